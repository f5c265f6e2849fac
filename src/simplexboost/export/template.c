// The parts of exported C: `c_source.py` puts together those that a model needs.

//: header
/* A model of simplexboost: see NAME.c. */
#ifndef UPPER_H
#define UPPER_H
#ifdef __cplusplus
extern "C" {
#endif

#define UPPER_N_FEATURES N_FEATURES
#define UPPER_N_CLASSES N_CLASSES

/* The labels, as text. */
extern const char *const NAME_classes[UPPER_N_CLASSES];
/* The names of the columns. */
extern const char *const NAME_columns[UPPER_N_FEATURES];

PREDICT
/* The scores of all classes. */
void NAME_scores(const double *x, double *u);
/* What to pass in x for a category that is text; -1, which counts as missing, if it is unknown. */
int NAME_category(int column, const char *text);

#ifdef __cplusplus
}
#endif
#endif

//: source
/* A model of simplexboost as C99 without dependencies but the mathematical library (-lm).
   Values are doubles in the order of the columns, NAN where missing. Categories that are numbers are passed as they are;
   for those that are text, NAME_category gives the number to pass.
   Written by simplexboost.export.c. */

HEADER

#include <math.h>
#include <stdint.h>
#include <string.h>

#define D N_COORDINATES /* coordinates of the predictor F */
#define K N_PRESENT     /* classes that had training examples */
#define TIED MOST_TIED  /* scores that differ by no more than this part of the largest one are tied */

typedef struct {
  double threshold;
  int32_t feature; /* -1 at a leaf */
  int32_t left;    /* the left child, the right one follows; at a leaf its number */
  int32_t set;     /* the set of categories that go left, or -1 */
  int32_t missing_left;
} node;

TABLES

/* The number of a category, -1 if it counts as missing: v itself for text, else that of the value v. */
static int category_of(int column, double v) {
  long low = known_begin[column], high = known_begin[column + 1];
  if (low == high) return v >= 0 && v < 256 && v == floor(v) ? (int)v : -1;
  if (isnan(v)) return -1;
  while (low < high) {
    const long middle = (low + high) / 2;
    if (known[middle] == v) return known_number[middle];
    if (known[middle] < v) low = middle + 1;
    else high = middle;
  }
  return category_other[column];
}

static int leaf_of(int tree, const double *x) {
  int at = root[tree];
  while (nodes[at].feature >= 0) {
    const node n = nodes[at];
    const double v = x[n.feature];
    int left = n.missing_left;
    if (n.set < 0) {
      if (!isnan(v)) left = v <= n.threshold;
    } else {
      const int category = category_of(n.feature, v);
      if (category >= 0) left = sets[n.set][category / 8] >> (category % 8) & 1;
    }
    at = left ? n.left : n.left + 1;
  }
  return nodes[at].left;
}

static void predictor(const double *x, double *f) {
  memcpy(f, constant, sizeof constant);
  for (int tree = 0; tree < N_TREES; tree++) {
    const int leaf = leaf_of(tree, x);
    for (long i = begin[leaf]; i < begin[leaf + 1]; i++) f[coordinate[i]] += value[i];
  }
  for (int line = 0; line < N_LINES; line++) {
    const double away = x[line_feature[line]] - line_centre[line];
    if (isnan(away)) continue;
    for (int j = 0; j < D; j++) f[j] += line_slope[line][j] * away;
  }
}

/* Scores of the classes that had training examples. */
static void present_scores(const double *x, double *u) {
  double f[D];
  predictor(x, f);
SCORES
}

static void spread(const double *some, double absent, double *all) {
  for (int k = 0; k < UPPER_N_CLASSES; k++) all[k] = absent;
  for (int k = 0; k < K; k++) all[present[k]] = some[k];
}

void NAME_scores(const double *x, double *u) {
  double some[K];
  present_scores(x, some);
  double least = some[0];
  for (int k = 1; k < K; k++) least = fmin(least, some[k]);
  spread(some, least - 30.0, u);
}

DECISION
PROBABILITIES
int NAME_category(int column, const char *text) {
  for (int i = 0; i < N_CATEGORIES; i++)
    if (category_column[i] == column && !strcmp(category_text[i], text)) return category_number[i];
  if (column < 0 || column >= UPPER_N_FEATURES || known_begin[column] < known_begin[column + 1]) return -1;
  return category_other[column];
}

//: declare one
/* The index of the label in NAME_classes. */
int NAME_predict(const double *x);

//: declare several
/* 1 for the labels of x, 0 for the others. */
void NAME_predict(const double *x, int *labels);

//: declare median
/* The index of the median label in NAME_classes. */
int NAME_predict(const double *x);

//: declare probabilities
/* The probabilities of all classes. */
void NAME_probabilities(const double *x, double *p);

//: predict one
int NAME_predict(const double *x) {
  double u[K];
  int best = 0;
  present_scores(x, u);
  for (int k = 1; k < K; k++)
    if (u[k] > u[best]) best = k;
  return present[best];
}

//: predict one of tied
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

//: predict median
int NAME_predict(const double *x) {
  double p[UPPER_N_CLASSES], sum = 0, up_to = 0;
  int k = 0;
  NAME_probabilities(x, p);
  for (int i = 0; i < UPPER_N_CLASSES; i++) sum += p[order[i]];
  while (2 * (up_to += p[order[k]]) < (1 - TIED) * sum) k++;
  return order[k];
}

//: predict several
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

//: scores canonical
  for (int k = 0; k < K; k++) u[k] = 0.5 * f[k];

//: scores codewords
  for (int k = 0; k < K; k++) {
    u[k] = 0;
    for (int j = 0; j < D; j++) u[k] += codeword[k][j] * f[j];
  }

//: probabilities
HELPERS
void NAME_probabilities(const double *x, double *p) {
  double u[K];
  READ_SCORES(x, u);
LINK
  spread(u, 0, p);
}

//: softmax
static void softmax(double *u) {
  double top = u[0], sum = 0;
  for (int k = 1; k < K; k++) top = fmax(top, u[k]);
  for (int k = 0; k < K; k++) sum += u[k] = exp(u[k] - top);
  for (int k = 0; k < K; k++) u[k] /= sum;
}

//: log_sigmoid
static double log_sigmoid(double x) { return fmin(x, 0) - log1p(exp(-fabs(x))); }

//: link softmax
  for (int k = 0; k < K; k++) u[k] *= SCALE;
  softmax(u);

//: link one-vs-all
  for (int k = 0; k < K; k++) u[k] = log_sigmoid(SCALE * u[k]);
  softmax(u);

//: link sigmoid
  for (int k = 0; k < K; k++) u[k] = exp(log_sigmoid(SCALE * u[k]));

//: link shares
  double sum = 0;
  for (int k = 0; k < K; k++) sum += u[k];
  for (int k = 0; k < K; k++) u[k] = sum > 0 ? u[k] / sum : 1.0 / K;

//: link certain
  u[0] = 1;

//: link savage
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
  softmax(u);
