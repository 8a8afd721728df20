// Reads lines of a file in columns that have names. Every error is a std::runtime_error that names file,
// line, column, what is expected and the value.
#pragma once

#include <fstream>
#include <functional>
#include <istream>
#include <string>
#include <vector>

namespace crossover::benchmarks {

class Row {
 public:
  // `where` is the file and line, for errors.
  Row(std::string where, const std::vector<std::string>& names, std::vector<std::string> cells);

  int line() const { return line_; }
  // The accessors throw where the column is missing or its value is empty or out of range.
  const std::string& Text(const std::string& name) const;
  double Number(const std::string& name, double least, double most = 1e15) const;
  int Whole(const std::string& name, int least, int most = 1'000'000'000) const;
  [[noreturn]] void Refuse(const std::string& name, const std::string& expected) const;

 private:
  friend void EachRow(std::istream& text, const std::string& file, char between,
                      std::vector<std::string> names, const std::function<void(const Row&)>& take);
  std::size_t Place(const std::string& name) const;

  std::string where_;
  const std::vector<std::string>* names_;
  std::vector<std::string> cells_;
  int line_ = 0;
};

// Calls `take` for each line that is not empty. Without `names` the first line has them. `file` is its name
// in errors.
void EachRow(std::istream& text, const std::string& file, char between, std::vector<std::string> names,
             const std::function<void(const Row&)>& take);

// Opens a file for reading. Throws where it cannot be read or is empty.
std::ifstream Opened(const std::string& path);

}  // namespace crossover::benchmarks
