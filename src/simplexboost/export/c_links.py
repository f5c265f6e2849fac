"""Labels and probabilities in C: the functions that differ from model to model."""

from __future__ import annotations

from .links import Link

PREDICTS = {
    "one": "/* The index of the label in NAME_classes. */\nint NAME_predict(const double *x);\n",
    "several": "/* 1 for the labels of x, 0 for the others. */\nvoid NAME_predict(const double *x, int *labels);\n",
    "median": "/* The index of the median label in NAME_classes. */\nint NAME_predict(const double *x);\n",
    "probabilities": "/* The probabilities of all classes. */\nvoid NAME_probabilities(const double *x, double *p);\n",
}

DECISIONS = {
    "one": """\
int NAME_predict(const double *x) {
  double u[K];
  int best = 0;
  present_scores(x, u);
  for (int k = 1; k < K; k++)
    if (u[k] > u[best]) best = k;
  return present[best];
}
""",
    "one of tied": """\
int NAME_predict(const double *x) {
  double u[K], top = -HUGE_VAL, largest = 0;
  int best = 0;
  present_scores(x, u);
  for (int k = 0; k < K; k++) {
    top = fmax(top, u[k]);
    largest = fmax(largest, fabs(u[k]));
  }
  while (u[best] < top - TIED * largest) best++;
  return present[best];
}
""",
    "median": """\
int NAME_predict(const double *x) {
  double p[UPPER_N_CLASSES], sum = 0, up_to = 0;
  int k = 0;
  NAME_probabilities(x, p);
  for (int i = 0; i < UPPER_N_CLASSES; i++) sum += p[order[i]];
  while (2 * (up_to += p[order[k]]) < (1 - TIED) * sum) k++;
  return order[k];
}
""",
    "several": """\
static void above_threshold(const double *x, double *u) {
  double cut = threshold[K];
  present_scores(x, u);
  for (int k = 0; k < K; k++) cut += threshold[k] * u[k];
  for (int k = 0; k < K; k++) u[k] -= cut;
}

void NAME_predict(const double *x, int *labels) {
  double u[K];
  above_threshold(x, u);
  for (int k = 0; k < K; k++) labels[k] = u[k] > 0;
}
""",
}

LOG_SIGMOID = """\
static double log_sigmoid(double x) { return fmin(x, 0) - log1p(exp(-fabs(x))); }
"""

SOFTMAX = """\
static void softmax(double *u) {
  double top = u[0], sum = 0;
  for (int k = 1; k < K; k++) top = fmax(top, u[k]);
  for (int k = 0; k < K; k++) sum += u[k] = exp(u[k] - top);
  for (int k = 0; k < K; k++) u[k] /= sum;
}
"""

BODIES = {
    "softmax": (SOFTMAX, "  for (int k = 0; k < K; k++) u[k] *= SCALE;\n  softmax(u);"),
    "one-vs-all": (
        SOFTMAX + LOG_SIGMOID,
        "  for (int k = 0; k < K; k++) u[k] = log_sigmoid(SCALE * u[k]);\n  softmax(u);",
    ),
    "sigmoid": (LOG_SIGMOID, "  for (int k = 0; k < K; k++) u[k] = exp(log_sigmoid(SCALE * u[k]));"),
    "shares": (
        "",
        "  double sum = 0;\n"
        "  for (int k = 0; k < K; k++) sum += u[k];\n"
        "  for (int k = 0; k < K; k++) u[k] = sum > 0 ? u[k] / sum : 1.0 / K;",
    ),
    "certain": ("", "  u[0] = 1;"),
    "savage": (
        SOFTMAX,
        """\
  /* 1 / (1 - p_k) over its sum with p = softmax(2u); the sum over the others loses no digits where p is near 1. */
  int best = 0;
  for (int k = 1; k < K; k++)
    if (u[k] > u[best]) best = k;
  double top = u[best], second = -HUGE_VAL, sum = 0;
  for (int k = 0; k < K; k++)
    if (k != best) second = fmax(second, u[k]);
  for (int k = 0; k < K; k++)
    if (k != best) sum += exp(2 * (u[k] - second));
  const double rest = 2 * (second - top) + log(sum);
  for (int k = 0; k < K; k++) u[k] = k == best ? -rest : -log1p(fmax(exp(rest) - exp(2 * (u[k] - top)), 0));
  softmax(u);""",
    ),
}


def probability_source(link: Link) -> str:
    """The function for probabilities, and those that it calls."""
    if link.kind not in BODIES:
        raise ValueError(
            "the C source cannot hold probabilities under a cost_matrix, which solve a linear system for every row; "
            "probabilities=False exports labels and scores."
        )
    helpers, body = BODIES[link.kind]
    scores = "above_threshold" if link.kind == "sigmoid" else "present_scores"
    return f"""\
{helpers}
void NAME_probabilities(const double *x, double *p) {{
  double u[K];
  {scores}(x, u);
{body.replace("SCALE", repr(float(link.scale)))}
  spread(u, 0, p);
}}
"""
