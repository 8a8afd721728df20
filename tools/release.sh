#!/usr/bin/env bash
# Makes a release in dist/: tools/pack_release.sh says what is packed; bills of materials, checksums and signatures follow
# (tools/trust). RELEASING.md says what a maintainer does before and after it.
#
#   tools/release.sh           make it
#   tools/release.sh --check   write nothing: exit 2 and say what is missing
#
#   IMAGES            the repository that the images will be in, such as registry.example/team
#   KEY               the file with cosign's private key, or none: archives without signatures, marked as such
#   COSIGN_PASSWORD   the password of KEY; where it is not set, a terminal is asked for it
#   BILLS             none leaves out the bills where KEY=none
#   BASE              what the images are built on: tools/build_images.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python3 -B -m tools.trust check "${IMAGES:-}" "${KEY:-}"
case ${1:-} in
  "") ;;
  --check) exit 0 ;;
  *)
    echo "release: argument: expected --check or none, got $1" >&2
    exit 2
    ;;
esac

if [[ $KEY != none ]]; then
  if [[ -z ${COSIGN_PASSWORD+set} && -t 0 ]]; then
    read -rsp "Password of $KEY: " COSIGN_PASSWORD && echo
    export COSIGN_PASSWORD
  fi
  python3 -B -m tools.trust open "$KEY"
fi

tools/build.sh release all crossover_portable
rm -rf dist
tools/pack_release.sh build/release "$IMAGES" dist
python3 -B -m tools.trust finish dist "$KEY"
