// Splits a PTX text into words: directives, names, numbers, texts in quotation marks, and single characters.
// Skips blanks and comments. Pure.
#pragma once

#include <string_view>

namespace simgpu::image {

class PtxWords {
 public:
  explicit PtxWords(std::string_view text) : left_(text) {}

  // Returns the next word and goes on behind it; an empty one at the end of the text. The word lies in the
  // text.
  std::string_view Next();
  // Returns the next word and stays in front of it.
  std::string_view Peek() const {
    PtxWords copy = *this;
    return copy.Next();
  }
  // Goes on behind the character that closes what `open` opens: a round, curly or square bracket. Returns
  // false if the text ends before. REQUIRES: Next() returned `open` just now.
  bool SkipGroup(char open);
  // Returns in which line of the text the last word stands, from 1.
  int line() const { return line_; }

 private:
  void SkipBlanks();
  void Drop(std::size_t characters);

  std::string_view left_;
  int line_ = 1;
};

}  // namespace simgpu::image
