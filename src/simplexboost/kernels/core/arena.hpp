// Memory that is used again: a tree allocates and frees hundreds of histograms of some hundred kilobytes. New memory
// from the system causes a page fault for every page (a third of a tree's time for 100000 rows).
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/pool.hpp"

namespace simplexboost {

// Memory that begins at a cache line, so that a vector as wide as a cache line never lies in two of them.
struct Lines {
  static constexpr std::align_val_t size{64};
  void operator()(char* memory) const { ::operator delete[](memory, size); }
};
using Memory = std::unique_ptr<char[], Lines>;

class Arena {
 public:
  static Arena& shared() { return *current; }

  // Puts a new arena in the place of the old one, which is never destroyed: buffers may outlive static destructors.
  static void renew() { current = new Arena; }

  Memory take(std::size_t bytes) {
    if (const auto lock = patient_lock(); lock.owns_lock())
      if (auto same = spare_.find(bytes); same != spare_.end() && !same->second.empty()) {
        auto found = std::move(same->second.back());
        same->second.pop_back();
        kept_ -= bytes;
        return found;
      }
    return Memory(static_cast<char*>(::operator new[](bytes, Lines::size)));
  }

  void give(Memory buffer, std::size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
    return;  // it is freed, so that a use of it is noticed
#endif
    const auto lock = patient_lock();
    if (!lock.owns_lock()) return;
    if (kept_ + bytes > kMost) spare_.clear(), kept_ = 0;  // other sizes are in use now: free the old ones
    if (bytes > kMost) return;
    spare_[bytes].push_back(std::move(buffer));
    kept_ += bytes;
  }

 private:
  // Gives up after a while, and the caller then uses no arena: to wait longer would cost more than new memory.
  std::unique_lock<std::mutex> patient_lock() {
    std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
    for (int tries = 0; tries < 1000 && !lock.try_lock(); ++tries) relax();
    return lock;
  }

  static constexpr std::size_t kMost = std::size_t{1} << 27;  // bytes kept for later
  static inline Arena* current = nullptr;
  std::mutex mutex_;
  std::unordered_map<std::size_t, std::vector<Memory>> spare_;  // by size
  std::size_t kept_ = 0;
};

// An array of numbers from the arena, not initialised.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) : bytes_(size * sizeof(T)), memory_(Arena::shared().take(bytes_)) {}
  Buffer(Buffer&& other) noexcept : bytes_(other.bytes_), memory_(std::move(other.memory_)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~Buffer() { reset(); }
  void reset() {
    if (memory_ == nullptr) return;
    try {
      Arena::shared().give(std::move(memory_), bytes_);
    } catch (const std::bad_alloc&) {  // no memory for the list of what is kept: then this is not kept either
    }
  }
  T* data() { return reinterpret_cast<T*>(memory_.get()); }
  const T* data() const { return reinterpret_cast<const T*>(memory_.get()); }
  bool empty() const { return memory_ == nullptr; }
  std::size_t size() const { return empty() ? 0 : bytes_ / sizeof(T); }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }

 private:
  std::size_t bytes_ = 0;
  Memory memory_;
};

}  // namespace simplexboost
