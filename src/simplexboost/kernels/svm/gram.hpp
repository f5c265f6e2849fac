// Rows of the Gram matrix (the kernel function of one example and all others), computed on first use and kept in a
// cache.
//
// Examples have positions, which change: inactive examples are moved behind the active ones, so that only the first
// columns of a row are needed. A row is put into the current order of positions when it is used, not before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "svm/hot.hpp"
#include "svm/problem.hpp"
#include "svm/tools.hpp"

namespace simplexboost {

template <class T>
class GramCache {
 public:
  // Holds as many rows as fit in options.cache_bytes, but at least `least`.
  GramCache(const SvmProblem& problem, const SvmKernelSpec& spec, const SvmOptions& options, std::size_t least)
      : problem_(problem),
        spec_(spec),
        options_(options),
        hot_(svm_hot()),
        n_(problem.rows.n),
        ld_(padded8(n_)),
        original_(n_),
        norm_(ld_, 0.0),
        row_(n_),
        spare_(new T[ld_]()),
        capacity_(std::max(least, options.cache_bytes / (ld_ * sizeof(T)))) {
    std::iota(original_.begin(), original_.end(), std::size_t{0});
    load_columns();
    positions_.emplace_back(original_.begin(), original_.end());
  }

  std::size_t capacity() const { return capacity_; }
  std::size_t original(std::size_t position) const { return original_[position]; }
  const T* row(std::size_t position) const { return row_[original_[position]].values.get(); }  // after fetch

  // Computes the rows of the examples at these positions, columns 0 .. size.
  void fetch(const std::vector<std::size_t>& positions, std::size_t size) {
    ++now_;
    std::vector<std::size_t> missing;
    for (const std::size_t i : positions) {
      Row& row = row_[original_[i]];
      row.used = now_;
      if (row.values && row.epoch + 1 != positions_.size()) reorder(row);
      if (row.size < size) missing.push_back(i);
    }
    if (missing.empty()) return;
    std::size_t begin = size;
    for (const std::size_t i : missing) {
      Row& row = row_[original_[i]];
      if (!row.values) {
        row.values = take();
        row.epoch = positions_.size() - 1;
        cached_.push_back(original_[i]);
      }
      begin = std::min(begin, row.size);
    }
    compute(missing, begin, size);
    for (const std::size_t i : missing) row_[original_[i]].size = size;
  }

  // Position r takes what was at order[r]; only the first order.size() positions move. Rows are reordered when needed.
  void permute(const std::vector<std::size_t>& order) {
    reorder_values(order, original_.data());
    reorder_values(order, norm_.data());
    for (std::size_t f = 0; f < (XT_.empty() ? 0 : problem_.rows.p); ++f) reorder_values(order, XT_.data() + f * ld_);
    if (positions_.size() == kEpochs) forget_rows();
    positions_.emplace_back(n_);
    for (std::size_t r = 0; r < n_; ++r) positions_.back()[original_[r]] = static_cast<std::uint32_t>(r);
  }

 private:
  static constexpr std::size_t kEpochs = 64;  // orders of positions to remember

  struct Row {
    std::unique_ptr<T[]> values;
    std::size_t size = 0;   // columns that are computed
    std::size_t epoch = 0;  // the order of positions they are in
    std::int64_t used = 0;
  };

  // Examples as columns, in the order of the positions; squared norms.
  void load_columns() {
    const SvmRows& rows = problem_.rows;
    if (spec_.kind == SvmKernel::precomputed) return;
    if (rows.dense) {
      XT_.assign(rows.p * ld_, 0.0);
      for (std::size_t i = 0; i < n_; ++i)
        for (std::size_t f = 0; f < rows.p; ++f) XT_[f * ld_ + i] = rows.dense[i * rows.p + f];
      for (std::size_t f = 0; f < rows.p; ++f)
        for (std::size_t i = 0; i < n_; ++i) norm_[i] += XT_[f * ld_ + i] * XT_[f * ld_ + i];
    } else {
      for (std::size_t i = 0; i < n_; ++i)
        for (std::int64_t j = rows.indptr[i]; j < rows.indptr[i + 1]; ++j) {
          norm_[i] += rows.data[j] * rows.data[j];
          width_ = std::max(width_, static_cast<std::size_t>(rows.indices[j]) + 1);
        }
    }
  }

  // Memory for a row: new, or that of the least recently used row.
  std::unique_ptr<T[]> take() {
    if (cached_.size() < capacity_) return std::unique_ptr<T[]>(new T[ld_]());
    const auto oldest = std::min_element(cached_.begin(), cached_.end(), [this](std::size_t i, std::size_t j) {
      return row_[i].used != row_[j].used ? row_[i].used < row_[j].used : i < j;
    });
    std::unique_ptr<T[]> values = std::move(row_[*oldest].values);
    row_[*oldest].size = 0;
    *oldest = cached_.back();
    cached_.pop_back();
    return values;
  }

  void compute(const std::vector<std::size_t>& positions, std::size_t begin, std::size_t end) {
    const std::size_t q = positions.size();
    std::vector<T*> out(q);
    for (std::size_t b = 0; b < q; ++b) out[b] = row_[original_[positions[b]]].values.get();
    if (spec_.kind == SvmKernel::precomputed) return copy(positions, begin, end, out);
    std::vector<double> own_norm(q);
    for (std::size_t b = 0; b < q; ++b) own_norm[b] = norm_[positions[b]];
    if (problem_.rows.dense) compute_dense(positions, own_norm, begin, end, out);
    else compute_sparse(positions, own_norm, begin, end, out);
  }

  // Copies rows of a given (precomputed) matrix.
  void copy(const std::vector<std::size_t>& positions, std::size_t begin, std::size_t end,
            const std::vector<T*>& out) const {
    for (std::size_t b = 0; b < positions.size(); ++b) {
      const double* given = problem_.rows.dense + original_[positions[b]] * n_;
      for (std::size_t j = begin; j < end; ++j) out[b][j] = static_cast<T>(given[original_[j]] + spec_.bias);
    }
  }

  void compute_dense(const std::vector<std::size_t>& positions, const std::vector<double>& own_norm, std::size_t begin,
                     std::size_t end, const std::vector<T*>& out) const {
    const std::size_t q = positions.size(), p = problem_.rows.p;
    std::vector<const double*> x(q);
    for (std::size_t b = 0; b < q; ++b) x[b] = problem_.rows.dense + original_[positions[b]] * p;
    panels(begin, end, options_.n_threads, [&](std::size_t from, std::size_t to) {
      if constexpr (sizeof(T) == 8)
        hot_.gram_rows64(spec_, x.data(), own_norm.data(), q, p, XT_.data(), ld_, norm_.data(), from, to, out.data());
      else
        hot_.gram_rows32(spec_, x.data(), own_norm.data(), q, p, XT_.data(), ld_, norm_.data(), from, to, out.data());
    });
  }

  void compute_sparse(const std::vector<std::size_t>& positions, const std::vector<double>& own_norm, std::size_t begin,
                      std::size_t end, const std::vector<T*>& out) const {
    const std::size_t q = positions.size();
    const SvmRows& rows = problem_.rows;
    std::vector<double> x(width_, 0.0), dots(ld_, 0.0);
    for (std::size_t b = 0; b < q; ++b) {
      const std::size_t i = original_[positions[b]];
      for (std::int64_t j = rows.indptr[i]; j < rows.indptr[i + 1]; ++j)
        x[static_cast<std::size_t>(rows.indices[j])] = rows.data[j];
      panels(begin, end, options_.n_threads, [&](std::size_t from, std::size_t to) {
        for (std::size_t c = from; c < to; ++c) {
          double dot = 0.0;
          for (std::int64_t j = rows.indptr[original_[c]]; j < rows.indptr[original_[c] + 1]; ++j)
            dot += rows.data[j] * x[static_cast<std::size_t>(rows.indices[j])];
          dots[c] = dot;
        }
        if constexpr (sizeof(T) == 8) hot_.from_dots64(spec_, dots.data(), own_norm[b], norm_.data(), from, to, out[b]);
        else hot_.from_dots32(spec_, dots.data(), own_norm[b], norm_.data(), from, to, out[b]);
      });
      for (std::int64_t j = rows.indptr[i]; j < rows.indptr[i + 1]; ++j)
        x[static_cast<std::size_t>(rows.indices[j])] = 0.0;
    }
  }

  // Puts the row into the current order of positions. Rows that are never used again are never reordered.
  void reorder(Row& row) {
    const std::vector<std::uint32_t>& position = positions_[row.epoch];
    std::size_t r = 0;
    for (; r < n_; ++r) {
      const std::size_t column = position[original_[r]];
      if (column >= row.size) break;
      spare_[r] = row.values[column];
    }
    std::swap(row.values, spare_);
    row.size = r;
    row.epoch = positions_.size() - 1;
  }

  void forget_rows() {
    for (const std::size_t i : cached_) row_[i] = Row{};
    cached_.clear();
    positions_.clear();
  }

  const SvmProblem& problem_;
  const SvmKernelSpec& spec_;
  const SvmOptions& options_;
  const SvmHot& hot_;
  std::size_t n_, ld_;
  std::size_t width_ = 0;  // the columns of sparse examples up to the last that is in use; there may be 2^31 of them
  std::vector<std::size_t> original_;  // by position, like norm_ and the columns of XT_ (p, ld)
  std::vector<double> norm_, XT_;
  std::vector<Row> row_;                               // by original number
  std::vector<std::size_t> cached_;                    // original numbers of the rows that have memory
  std::vector<std::vector<std::uint32_t>> positions_;  // by epoch: position of every original number
  std::unique_ptr<T[]> spare_;
  std::size_t capacity_;
  std::int64_t now_ = 0;
};

}  // namespace simplexboost
