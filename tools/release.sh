#!/usr/bin/env bash
# Makes a release in dist/: tools/build_release.sh builds and packs it; bills of materials, checksums and signatures
# follow (tools/trust). RELEASING.md says what a maintainer does before and after it.
#
#   tools/release.sh           make it
#   tools/release.sh --check   write nothing: exit 2 and say what is missing
#
#   IMAGES            the repository that the images will be in, such as registry.example/team
#   KEY               the file with cosign's private key, or none: archives without signatures, marked as such
#   COSIGN_PASSWORD   the password of KEY; if it is not set, a terminal is asked for it
#   PINS              tools/build_release.sh
#   BILLS             none leaves out the bills if KEY=none
#   ARCHITECTURES     those of images and command line if KEY=none, by default "amd64 arm64"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
read -ra architectures <<< "${ARCHITECTURES:-amd64 arm64}"
readonly architectures

python3 -B -m tools.trust check "${IMAGES:-}" "${KEY:-}"
case ${1:-} in
  "") ;;
  --check) exit 0 ;;
  *)
    echo "release: argument: expected none or --check, got $1" >&2
    exit 2
    ;;
esac

if [[ $KEY != none ]]; then
  if [[ -z ${COSIGN_PASSWORD+set} && -t 0 ]]; then
    read -rsp "Password of $KEY: " COSIGN_PASSWORD && echo
    export COSIGN_PASSWORD
  fi
fi
python3 -B -m tools.trust open "$KEY"
mkdir -p build
exec 9> build/.dist.lock
flock --nonblock 9 || {
  echo "release: dist: expected no other release that is being made here, got one" >&2
  exit 2
}
revision=$(git rev-parse HEAD)
readonly revision
tools/build_release.sh "$IMAGES" dist "${architectures[@]}"
# The tree must still be the one that was built.
python3 -B -m tools.trust check "$IMAGES" "$KEY"
if [[ $(git rev-parse HEAD) != "$revision" ]]; then
  echo "release: tree: expected $revision, which was built, got $(git rev-parse HEAD)" >&2
  exit 2
fi
python3 -B -m tools.trust finish dist "$KEY"
