/* Stands for a program with a sanitizer of its own. */
#include <stdlib.h>

int main(int count, char** arguments) {
  (void)arguments;
  char* memory = malloc(1);
  if (memory == NULL) return 3;
  memory[0] = (char)count;
  free(memory);
  return count > 1 ? memory[0] : 0; /* the sanitizer finds it */
}
