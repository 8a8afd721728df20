# Names the architectures of a release. It is sourced. An architecture has the name that Debian, Kubernetes and OCI give it.
# shellcheck shell=bash

# machine_of ARCHITECTURE prints what `uname -m` prints there.
machine_of() {
  case $1 in
    amd64) echo x86_64 ;;
    arm64) echo aarch64 ;;
    *)
      echo "architecture: expected amd64 or arm64, got $1" >&2
      return 1
      ;;
  esac
}

# strip_of ARCHITECTURE prints the program that removes symbols from its programs.
strip_of() {
  local machine
  machine=$(machine_of "$1")
  if [[ $machine == "$(uname -m)" ]]; then echo strip; else echo "$machine-linux-gnu-strip"; fi
}

# native_architecture prints the architecture of this machine.
native_architecture() {
  case $(uname -m) in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    *) uname -m ;;
  esac
}
