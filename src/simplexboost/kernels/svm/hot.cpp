#include "svm/hot.hpp"

#include "core/isa.hpp"

namespace simplexboost {

namespace svm_loops {
#define LOOPS "svm/hot.inl"
#include "core/clones.inl"
}  // namespace svm_loops

const SvmHot& svm_hot() { return svm_loops::chosen(); }

}  // namespace simplexboost
