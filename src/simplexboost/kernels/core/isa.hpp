// The instruction set in use, chosen once at run time: AVX-512, AVX2 or the baseline of the compiler.
//
// Files of inner loops (*.inl) are compiled once for each of them. A file `x.inl` ends with `Table table()`, which
// returns a struct of pointers to its functions. It is compiled by
//
//   namespace x_loops {
//   #define LOOPS "subject/x.inl"
//   #include "core/clones.inl"
//   }
//
// and x_loops::chosen() is the table for this machine. Each file needs its own namespace: the linker would otherwise
// merge functions of the same name in two of them.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SIMPLEXBOOST_CLONES 1  // loops are compiled for several instruction sets
#endif

namespace simplexboost {

enum class Isa { baseline, avx2, avx512 };

// The best one of this machine. The environment variable `SIMPLEXBOOST_ISA=baseline|avx2|avx512` selects a lower one.
Isa isa();
const char* instruction_set();  // its name

}  // namespace simplexboost
