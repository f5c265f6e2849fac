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
