// The extension module: each subject defines its own bindings.
#include "module.hpp"

#include "core/gil.hpp"
#include "core/isa.hpp"
#include "core/pool.hpp"

NB_MODULE(_kernels, m) {
  using namespace simplexboost;
  m.doc() = "The compiled engine of simplexboost; see simplexboost.engine for its Python face.";
  nanobind::set_leak_warnings(false);  // models that live until the interpreter exits are not leaks
  make_pool();
  watch_signals();
  m.def("instruction_set", &instruction_set,
        "The instruction set the inner loops run on: 'avx512', 'avx2' or 'baseline'.");
  bind_exact(m);
  bind_bins(m);
  bind_trees(m);
  bind_forest(m);
  bind_explain(m);
  bind_race(m);
  bind_logistic(m);
  bind_blocks(m);
  bind_candidates(m);
  bind_rounds(m);
  bind_games(m);
  bind_svm(m);
}
