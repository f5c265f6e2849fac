// The bindings of the multiclass SVM.
#pragma once

#include <nanobind/nanobind.h>

namespace simplexboost {
void bind_svm(nanobind::module_& m);
}
