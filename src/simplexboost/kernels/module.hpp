// The bindings of each subject, in <subject>/bind*.cpp.
#pragma once

#include <nanobind/nanobind.h>

namespace simplexboost {

void bind_exact(nanobind::module_& m);
void bind_bins(nanobind::module_& m);
void bind_trees(nanobind::module_& m);
void bind_forest(nanobind::module_& m);
void bind_explain(nanobind::module_& m);
void bind_race(nanobind::module_& m);
void bind_logistic(nanobind::module_& m);
void bind_blocks(nanobind::module_& m);
void bind_candidates(nanobind::module_& m);
void bind_rounds(nanobind::module_& m);
void bind_games(nanobind::module_& m);
void bind_svm(nanobind::module_& m);

}  // namespace simplexboost
