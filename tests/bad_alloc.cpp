// Memory that throws where there is too little, as it must in C++. The address sanitizer's own `new` ends the process
// instead, and calls that ask for too much memory could not be told from calls that crash. `make sanitize` loads this
// before it; the memory is still the sanitizer's.
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

using Size = std::size_t;
using Alignment = std::align_val_t;
using Quietly = const std::nothrow_t&;

void* aligned(Size size, Alignment alignment) noexcept {
  void* memory = nullptr;
  return posix_memalign(&memory, static_cast<Size>(alignment), size) == 0 ? memory : nullptr;
}

void* checked(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(Size size) { return checked(std::malloc(size)); }
void* operator new[](Size size) { return checked(std::malloc(size)); }
void* operator new(Size size, Alignment alignment) { return checked(aligned(size, alignment)); }
void* operator new[](Size size, Alignment alignment) { return checked(aligned(size, alignment)); }
void* operator new(Size size, Quietly) noexcept { return std::malloc(size); }
void* operator new[](Size size, Quietly) noexcept { return std::malloc(size); }
void* operator new(Size size, Alignment alignment, Quietly) noexcept { return aligned(size, alignment); }
void* operator new[](Size size, Alignment alignment, Quietly) noexcept { return aligned(size, alignment); }

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, Size) noexcept { std::free(memory); }
void operator delete[](void* memory, Size) noexcept { std::free(memory); }
void operator delete(void* memory, Alignment) noexcept { std::free(memory); }
void operator delete[](void* memory, Alignment) noexcept { std::free(memory); }
void operator delete(void* memory, Size, Alignment) noexcept { std::free(memory); }
void operator delete[](void* memory, Size, Alignment) noexcept { std::free(memory); }
void operator delete(void* memory, Quietly) noexcept { std::free(memory); }
void operator delete[](void* memory, Quietly) noexcept { std::free(memory); }
void operator delete(void* memory, Alignment, Quietly) noexcept { std::free(memory); }
void operator delete[](void* memory, Alignment, Quietly) noexcept { std::free(memory); }
