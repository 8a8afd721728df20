// Implements the effect of PyTorch's kernels that join tensors: each row of blocks (y) copies one operand
// into its part of the result.
#include <algorithm>
#include <charconv>
#include <cstring>

#include "simgpu/kernels/torch.h"

namespace simgpu::torch {
namespace {

using std::string_view;

constexpr std::size_t kMostDims = 4;

// A Shape holds sizes and strides, in elements.
struct Shape {
  std::uint64_t sizes[kMostDims];
  std::uint64_t strides[kMostDims];
};

// A Form is what the name of a kernel says: the bytes of an element, those of an index, the number of
// dimensions, how many operands it takes, how many of them have strides, and the bytes that the vectorised
// form moves at once.
struct Form {
  std::size_t element = 0, index = 0, dims = 0, operands = 0, strides = 0;
  std::size_t vector = 0;  // 0 in other forms

  // The parameter of the operands holds these arrays: pointers, offsets, sizes, numbers of elements, flags,
  // shapes.
  std::size_t OffsetsAt() const { return operands * sizeof(void*); }
  std::size_t SizesAt() const { return OffsetsAt() + operands * index; }
  std::size_t CountsAt() const { return SizesAt() + operands * index; }
  std::size_t FlagsAt() const { return CountsAt() + operands * index; }
  std::size_t ShapesAt() const { return (FlagsAt() + operands + index - 1) / index * index; }
  std::size_t ShapeBytes() const { return 2 * kMostDims * index; }
  std::size_t Bytes() const { return (ShapesAt() + strides * ShapeBytes() + 7) / 8 * 8; }
};

// Takes a number of a template, such as Lj16E, from the beginning of *name.
bool TakeNumber(string_view* name, std::size_t* value) {
  if (name->substr(0, 1) != "L") return false;
  name->remove_prefix(2);
  const auto [end, problem] = std::from_chars(name->data(), name->data() + name->size(), *value);
  if (problem != std::errc()) return false;
  name->remove_prefix(static_cast<std::size_t>(end - name->data()));
  if (name->substr(0, 1) != "E") return false;
  name->remove_prefix(1);
  return true;
}

std::optional<Form> FormOf(string_view name) {
  constexpr string_view kElement = "10OpaqueTypeI";
  Form form;
  const bool vectorised = name.find("CatArrayBatchedCopy_vectorized") != string_view::npos;
  string_view rest = name.substr(std::min(name.find(kElement), name.size()));
  if (rest.empty()) return std::nullopt;
  rest.remove_prefix(kElement.size());
  if (!TakeNumber(&rest, &form.element) || rest.substr(0, 2) != "EE") return std::nullopt;
  form.index = rest.substr(2, 1) == "j" ? 4 : rest.substr(2, 1) == "m" ? 8 : 0;
  rest.remove_prefix(std::min<std::size_t>(3, rest.size()));
  if (form.index == 0 || !TakeNumber(&rest, &form.dims) || !TakeNumber(&rest, &form.operands) ||
      !TakeNumber(&rest, &form.strides) || (vectorised && !TakeNumber(&rest, &form.vector))) {
    return std::nullopt;
  }
  const bool good = form.element > 0 && form.dims >= 1 && form.dims <= kMostDims &&
                    (!vectorised || (form.vector > 0 && form.vector % form.element == 0));
  return good ? std::optional(form) : std::nullopt;
}

// Reads the parameters of one launch.
class Launch {
 public:
  Launch(const Form& form, const ParameterView& view) : form_(form), view_(view) {}

  std::size_t Operands() const { return std::min<std::size_t>(view_.grid[1], form_.operands); }
  unsigned char* Result() const { return view_.Get<unsigned char*>(0); }
  const unsigned char* Operand(std::size_t i) const {
    const unsigned char* operand = nullptr;
    std::memcpy(&operand, Inputs() + i * sizeof operand, sizeof operand);
    return operand;
  }
  std::uint64_t Offset(std::size_t i) const { return Index(Inputs() + form_.OffsetsAt(), i); }
  std::uint64_t Size(std::size_t i) const { return Index(Inputs() + form_.SizesAt(), i); }
  std::uint64_t Count(std::size_t i) const { return Index(Inputs() + form_.CountsAt(), i); }
  bool IsContiguous(std::size_t i) const { return form_.strides == 1 || Inputs()[form_.FlagsAt() + i] != 0; }
  Shape OperandShape(std::size_t i) const {
    return ShapeAt(Inputs() + form_.ShapesAt() + i * form_.ShapeBytes());
  }
  Shape ResultShape() const { return ShapeAt(static_cast<const unsigned char*>(view_.parameters[2])); }
  std::size_t Dimension() const { return static_cast<std::size_t>(view_.Get<std::int32_t>(3)); }
  // Returns the stride of the dimension along which tensors are joined.
  std::uint64_t Stride() const { return Index(static_cast<const unsigned char*>(view_.parameters[4]), 0); }

 private:
  const unsigned char* Inputs() const { return static_cast<const unsigned char*>(view_.parameters[1]); }
  std::uint64_t Index(const unsigned char* array, std::size_t i) const {
    std::uint64_t value = 0;
    std::memcpy(&value, array + i * form_.index, form_.index);
    return value;
  }
  Shape ShapeAt(const unsigned char* at) const {
    Shape shape{};
    for (std::size_t i = 0; i < kMostDims; ++i) {
      shape.sizes[i] = Index(at, i);
      shape.strides[i] = Index(at, kMostDims + i);
    }
    return shape;
  }

  const Form& form_;
  const ParameterView& view_;
};

// Returns where element `linear` of an operand lies, in a tensor with the strides of `shape`. `size` is the
// operand's size in dimension `joined`.
std::uint64_t PlaceOf(std::uint64_t linear, const Shape& shape, std::size_t dims, std::size_t joined,
                      std::uint64_t size) {
  std::uint64_t place = 0;
  for (std::size_t i = dims - 1; i >= 1; --i) {
    const std::uint64_t extent = std::max<std::uint64_t>(i == joined ? size : shape.sizes[i], 1);
    place += linear % extent * shape.strides[i];
    linear /= extent;
  }
  return place + linear * shape.strides[0];
}

// A Part is one operand and its part of the result. The vectorised form counts in vectors of some elements,
// and takes the sizes of the result in them.
class Part {
 public:
  Part(const Form& form, const Launch& launch, std::size_t i)
      : form_(form),
        per_unit_(form.vector == 0 ? 1 : form.vector / form.element),
        count_(launch.Count(i) / per_unit_),
        size_(launch.Size(i) * (form.vector == 0 ? 1 : launch.Stride()) / per_unit_),
        begin_(launch.Offset(i) * launch.Stride() / per_unit_),
        joined_(launch.Dimension()),
        contiguous_(launch.IsContiguous(i)),
        operand_(launch.OperandShape(form.strides == 1 ? 0 : i)),
        result_(launch.ResultShape()),
        from_(launch.Operand(i)),
        to_(launch.Result()) {}

  // Only the ends are looked up: what lies between them is in the same tensor.
  bool IsKnown(const EffectMemory& memory) const {
    return count_ == 0 || (UnitIsKnown(0, memory) && UnitIsKnown(count_ - 1, memory));
  }
  void Copy() const {
    for (std::uint64_t k = 0; k < count_; ++k) std::memcpy(Target(k), Source(k), Unit());
  }

 private:
  std::size_t Unit() const { return static_cast<std::size_t>(per_unit_) * form_.element; }
  const unsigned char* Source(std::uint64_t k) const {
    return from_ + (contiguous_ ? k : PlaceOf(k, operand_, form_.dims, joined_, size_)) * Unit();
  }
  unsigned char* Target(std::uint64_t k) const {
    return to_ + (begin_ + PlaceOf(k, result_, form_.dims, joined_, size_)) * Unit();
  }
  bool UnitIsKnown(std::uint64_t k, const EffectMemory& memory) const {
    return memory.known(Source(k), Unit()) && memory.known(Target(k), Unit());
  }

  const Form& form_;
  const std::uint64_t per_unit_, count_, size_, begin_;
  const std::size_t joined_;
  const bool contiguous_;
  const Shape operand_, result_;
  const unsigned char* const from_;
  unsigned char* const to_;
};

std::uint64_t BytesOf(const Form& form, const Launch& launch) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < launch.Operands(); ++i) bytes += 2 * launch.Count(i) * form.element;
  return bytes;
}

}  // namespace

std::optional<Effect> MakeCat(string_view name, const std::vector<std::size_t>& parameter_bytes) {
  const auto form = FormOf(name);
  if (!form) return std::nullopt;
  const std::vector<std::size_t> expected = {sizeof(void*), form->Bytes(), form->ShapeBytes(), 4,
                                             form->index};
  if (parameter_bytes != expected) return std::nullopt;
  return Effect{[form = *form](const ParameterView& view) { return BytesOf(form, Launch(form, view)); },
                [form = *form](const ParameterView& view, const EffectMemory& memory) {
                  const Launch launch(form, view);
                  if (BytesOf(form, launch) >= std::min(kMostByElement, memory.hollow_from)) return true;
                  std::vector<Part> parts;
                  for (std::size_t i = 0; i < launch.Operands(); ++i) parts.emplace_back(form, launch, i);
                  for (const Part& part : parts) {
                    if (!part.IsKnown(memory)) return false;
                  }
                  for (const Part& part : parts) part.Copy();
                  return true;
                }};
}

}  // namespace simgpu::torch
