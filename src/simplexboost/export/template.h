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
