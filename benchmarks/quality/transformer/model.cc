#include "benchmarks/quality/transformer/model.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace crossover::transformer {
namespace {

using Floats = std::vector<float>;

constexpr float kLeastSquare = 1e-5f;  // added to the mean square of a norm

// A Matrix has kLength rows of `columns`.
struct Matrix {
  explicit Matrix(std::size_t width) : columns(width), values(kLength * width) {}
  float* row(std::size_t r) { return values.data() + r * columns; }
  const float* row(std::size_t r) const { return values.data() + r * columns; }
  std::size_t columns;
  Floats values;
};

// Adds in * weights to out; weights are [in.columns][out.columns].
void AddProduct(const Matrix& in, const float* weights, Matrix& out) {
  for (std::size_t r = 0; r < kLength; ++r) {
    for (std::size_t i = 0; i < in.columns; ++i) {
      const float value = in.row(r)[i];
      const float* const weight = weights + i * out.columns;
      float* const sum = out.row(r);
      for (std::size_t j = 0; j < out.columns; ++j) sum[j] += value * weight[j];
    }
  }
}

// Adds the gradients of the product's inputs and weights. `d_in` may be null.
void AddGradients(const Matrix& in, const float* weights, const Matrix& d_out, Matrix* d_in,
                  float* d_weights) {
  for (std::size_t r = 0; r < kLength; ++r) {
    const float* const d = d_out.row(r);
    for (std::size_t i = 0; i < in.columns; ++i) {
      const float value = in.row(r)[i];
      const float* const weight = weights + i * d_out.columns;
      float* const d_weight = d_weights + i * d_out.columns;
      float sum = 0;
      for (std::size_t j = 0; j < d_out.columns; ++j) {
        d_weight[j] += value * d[j];
        sum += weight[j] * d[j];
      }
      if (d_in != nullptr) d_in->row(r)[i] += sum;
    }
  }
}

float RootMeanSquare(const float* row) {
  float sum = 0;
  for (std::size_t i = 0; i < kWidth; ++i) sum += row[i] * row[i];
  return std::sqrt(sum / kWidth + kLeastSquare);
}

Matrix Normed(const Matrix& in) {
  Matrix out(kWidth);
  for (std::size_t r = 0; r < kLength; ++r) {
    const float scale = 1 / RootMeanSquare(in.row(r));
    for (std::size_t i = 0; i < kWidth; ++i) out.row(r)[i] = in.row(r)[i] * scale;
  }
  return out;
}

// Adds the gradient of the norm's input.
void AddNormGradient(const Matrix& in, const Matrix& normed, const Matrix& d_out, Matrix& d_in) {
  for (std::size_t r = 0; r < kLength; ++r) {
    float along = 0;
    for (std::size_t i = 0; i < kWidth; ++i) along += d_out.row(r)[i] * normed.row(r)[i];
    const float scale = 1 / RootMeanSquare(in.row(r));
    for (std::size_t i = 0; i < kWidth; ++i)
      d_in.row(r)[i] += scale * (d_out.row(r)[i] - normed.row(r)[i] * along / kWidth);
  }
}

// Turns the first `count` values into probabilities.
void Softmax(float* values, std::size_t count) {
  const float most = *std::max_element(values, values + count);
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += values[i] = std::exp(values[i] - most);
  for (std::size_t i = 0; i < count; ++i) values[i] /= sum;
}

float Dot(const float* a, const float* b) {
  float sum = 0;
  for (std::size_t i = 0; i < kWidth; ++i) sum += a[i] * b[i];
  return sum;
}

// A Pass keeps what one sequence needs from its forward to its backward pass.
class Pass {
 public:
  Pass(const float* parameters, const std::vector<std::size_t>& borders, const Sequence& sequence)
      : parameters_(parameters), borders_(borders), sequence_(sequence) {}

  // Returns the mean loss.
  double Forward();
  // Adds the gradients of the mean loss times `weight`. REQUIRES: Forward() has run.
  void Backward(float weight, float* gradients);

 private:
  const float* Of(Tensor tensor) const { return parameters_ + borders_[tensor]; }
  void Attend();
  void BackwardThroughAttention(const Matrix& d_context, float* gradients, Matrix& d_normed);

  const float* const parameters_;
  const std::vector<std::size_t>& borders_;
  const Sequence& sequence_;
  Matrix in_{kWidth}, attended_{kWidth}, out_{kWidth};  // the residual stream
  Matrix in_normed_{kWidth}, attended_normed_{kWidth}, out_normed_{kWidth};
  Matrix query_{kWidth}, key_{kWidth}, value_{kWidth}, context_{kWidth}, attention_{kLength};
  Matrix hidden_{kHidden}, probability_{kTokens};
};

void Pass::Attend() {
  for (std::size_t t = 0; t < kLength; ++t) {
    for (std::size_t s = 0; s <= t; ++s)
      attention_.row(t)[s] = Dot(query_.row(t), key_.row(s)) / std::sqrt(float{kWidth});
    Softmax(attention_.row(t), t + 1);
    for (std::size_t s = 0; s <= t; ++s) {
      for (std::size_t i = 0; i < kWidth; ++i) context_.row(t)[i] += attention_.row(t)[s] * value_.row(s)[i];
    }
  }
}

double Pass::Forward() {
  for (std::size_t t = 0; t < kLength; ++t) {
    for (std::size_t i = 0; i < kWidth; ++i)
      in_.row(t)[i] = Of(kEmbedding)[sequence_[t] * kWidth + i] + Of(kPosition)[t * kWidth + i];
  }
  in_normed_ = Normed(in_);
  AddProduct(in_normed_, Of(kQuery), query_);
  AddProduct(in_normed_, Of(kKey), key_);
  AddProduct(in_normed_, Of(kValue), value_);
  Attend();
  attended_ = in_;
  AddProduct(context_, Of(kOutput), attended_);
  attended_normed_ = Normed(attended_);
  out_ = attended_;
  for (std::size_t t = 0; t < kLength; ++t) {
    std::copy_n(Of(kUpBias), kHidden, hidden_.row(t));
    for (std::size_t i = 0; i < kWidth; ++i) out_.row(t)[i] += Of(kDownBias)[i];
  }
  AddProduct(attended_normed_, Of(kUp), hidden_);
  for (float& value : hidden_.values) value = std::max(value, 0.0f);
  AddProduct(hidden_, Of(kDown), out_);
  out_normed_ = Normed(out_);
  AddProduct(out_normed_, Of(kHead), probability_);
  double loss = 0;
  for (std::size_t t = 0; t < kLength; ++t) {
    Softmax(probability_.row(t), kTokens);
    loss -= std::log(std::max(static_cast<double>(probability_.row(t)[sequence_[t + 1]]), 1e-30)) / kLength;
  }
  return loss;
}

void Pass::BackwardThroughAttention(const Matrix& d_context, float* gradients, Matrix& d_normed) {
  Matrix d_query(kWidth), d_key(kWidth), d_value(kWidth);
  for (std::size_t t = 0; t < kLength; ++t) {
    const float* const weight = attention_.row(t);
    std::array<float, kLength> d_weight{};
    float mean = 0;
    for (std::size_t s = 0; s <= t; ++s) {
      d_weight[s] = Dot(d_context.row(t), value_.row(s));
      mean += weight[s] * d_weight[s];
    }
    for (std::size_t s = 0; s <= t; ++s) {
      const float d_score = weight[s] * (d_weight[s] - mean) / std::sqrt(float{kWidth});
      for (std::size_t i = 0; i < kWidth; ++i) {
        d_value.row(s)[i] += weight[s] * d_context.row(t)[i];
        d_query.row(t)[i] += d_score * key_.row(s)[i];
        d_key.row(s)[i] += d_score * query_.row(t)[i];
      }
    }
  }
  AddGradients(in_normed_, Of(kQuery), d_query, &d_normed, gradients + borders_[kQuery]);
  AddGradients(in_normed_, Of(kKey), d_key, &d_normed, gradients + borders_[kKey]);
  AddGradients(in_normed_, Of(kValue), d_value, &d_normed, gradients + borders_[kValue]);
}

void Pass::Backward(float weight, float* gradients) {
  const auto of = [&](Tensor tensor) { return gradients + borders_[tensor]; };
  Matrix d_score = probability_;
  for (std::size_t t = 0; t < kLength; ++t) d_score.row(t)[sequence_[t + 1]] -= 1;
  for (float& value : d_score.values) value *= weight / kLength;
  Matrix d_normed(kWidth), d_stream(kWidth), d_hidden(kHidden);
  AddGradients(out_normed_, Of(kHead), d_score, &d_normed, of(kHead));
  AddNormGradient(out_, out_normed_, d_normed, d_stream);
  AddGradients(hidden_, Of(kDown), d_stream, &d_hidden, of(kDown));
  for (std::size_t i = 0; i < d_hidden.values.size(); ++i) {
    if (hidden_.values[i] <= 0) d_hidden.values[i] = 0;
  }
  for (std::size_t t = 0; t < kLength; ++t) {
    for (std::size_t i = 0; i < kWidth; ++i) of(kDownBias)[i] += d_stream.row(t)[i];
    for (std::size_t i = 0; i < kHidden; ++i) of(kUpBias)[i] += d_hidden.row(t)[i];
  }
  d_normed = Matrix(kWidth);
  AddGradients(attended_normed_, Of(kUp), d_hidden, &d_normed, of(kUp));
  AddNormGradient(attended_, attended_normed_, d_normed, d_stream);
  Matrix d_context(kWidth);
  AddGradients(context_, Of(kOutput), d_stream, &d_context, of(kOutput));
  d_normed = Matrix(kWidth);
  BackwardThroughAttention(d_context, gradients, d_normed);
  AddNormGradient(in_, in_normed_, d_normed, d_stream);
  for (std::size_t t = 0; t < kLength; ++t) {
    for (std::size_t i = 0; i < kWidth; ++i) {
      of(kEmbedding)[sequence_[t] * kWidth + i] += d_stream.row(t)[i];
      of(kPosition)[t * kWidth + i] += d_stream.row(t)[i];
    }
  }
}

}  // namespace

std::vector<std::size_t> Borders() {
  std::vector<std::size_t> borders = {0};
  for (const std::size_t size : kSizes) borders.push_back(borders.back() + size);
  return borders;
}

std::vector<float> InitialParameters(std::uint64_t seed) {
  const std::vector<std::size_t> borders = Borders();
  std::vector<float> parameters(borders.back(), 0);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (std::size_t tensor = 0; tensor < kTensors; ++tensor) {
    if (tensor == kUpBias || tensor == kDownBias) continue;
    const double inputs = tensor == kDown ? kHidden : kWidth;
    for (std::size_t i = borders[tensor]; i < borders[tensor + 1]; ++i)
      parameters[i] = static_cast<float>(normal(random) / std::sqrt(inputs));
  }
  return parameters;
}

double Loss(std::span<const float> parameters, std::span<const Sequence> sequences,
            std::span<float> gradients) {
  const std::vector<std::size_t> borders = Borders();
  const auto count = static_cast<double>(sequences.size());
  double loss = 0;
  for (const Sequence& sequence : sequences) {
    Pass pass(parameters.data(), borders, sequence);
    loss += pass.Forward() / count;
    if (!gradients.empty()) pass.Backward(static_cast<float>(1 / count), gradients.data());
  }
  return loss;
}

}  // namespace crossover::transformer
