// Holds the program by which shells complete `kubectl crossover`. kubectl calls a program of this name next
// to the plugin. It expects one word on each line and a directive at the end (4: no file names).
#pragma once

namespace crossover::cli {

inline constexpr char kCompletion[] = R"(#!/bin/sh
# kubectl_complete-crossover: put it on the PATH, executable.
words='top timeline explain doctor advise servers completion --context --kubeconfig --help'
case "$1" in
  top | timeline) words='--node --watch --output' ;;
  explain) words='pod gang --namespace --watch --output' ;;
  doctor) words='--bundle --watch --output' ;;
  advise) words='--namespace --days --watch --output' ;;
  servers) words='--node --speed --inner-gbit' ;;
esac
if [ "$1" = explain ] && [ "$2" = pod ] && [ $# -ge 3 ]; then
  words=$(kubectl get pods --output name 2>/dev/null | sed 's,^pod/,,')
fi
for last; do :; done
previous=
before=
for word; do
  previous=$before
  before=$word
done
case "$previous" in
  -o | --output) words='text wide json yaml' ;;
  --node) words=$(kubectl get nodes --output name 2>/dev/null | sed 's,^node/,,') ;;
esac
for word in $words; do
  case "$word" in
    "$last"*) echo "$word" ;;
  esac
done
echo ':4'
)";

}  // namespace crossover::cli
