// The instruction set in use, chosen once at run time: AVX-512, AVX2 or the baseline of the compiler.
//
// Files of inner loops (*.inl) are compiled once for each of them. A file `x.inl` that ends with `Table table()`, a
// struct of pointers to its functions, becomes available by
//
//   namespace x_loops {
//   #define LOOPS "subject/x.inl"
//   #include "core/clones.inl"
//   }
//
// and x_loops::chosen() is the table for the machine at hand. Each file needs a namespace of its own: functions of the
// same name in two of them would otherwise be taken for one.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SIMPLEXBOOST_CLONES 1  // loops are compiled for several instruction sets
#endif

namespace simplexboost {

enum class Isa { baseline, avx2, avx512 };

// The best one that the machine has. `SIMPLEXBOOST_ISA=baseline|avx2|avx512` in the environment asks for a lower one.
Isa isa();
const char* instruction_set();  // its name

}  // namespace simplexboost
