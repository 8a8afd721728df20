#!/usr/bin/env bash
# Installs what makes and verifies the bills and the signatures of a release, as far as it is missing, into
# ${CROSSOVER_CACHE:-~/.cache/crossover}, one folder NAME-VERSION for each: syft, cosign, and crane, whose registry tests
# install a release from. They are built from their Go modules as tools/install/NAME-VERSION pins them. It needs no root. It is quick when nothing is missing, and safe to run twice
# at once.
#
# syft 1.52.0 is the newest version that the Go of go_modules.sh builds.
#
#   tools/install/trust.sh           install: a quarter of an hour on two cores
#   tools/install/trust.sh --verify  install cosign alone
#   tools/install/trust.sh --check   change nothing: exit 1 and say what is missing
#   tools/install/trust.sh --pin     write their go.mod and go.sum into tools/install
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly cache=${CROSSOVER_CACHE:-$HOME/.cache/crossover}
readonly syft_default=1.52.0
readonly cosign_default=3.1.3
readonly crane_default=0.22.1
readonly crane_module=github.com/google/go-containerregistry
readonly cosign_module=github.com/sigstore/cosign/v3

# shellcheck source=tools/install/debian.sh
. "$here/debian.sh"
# shellcheck source=tools/install/go_modules.sh
. "$here/go_modules.sh"

wanted="syft cosign crane"
if [[ ${1:-} == --verify ]]; then
  wanted=cosign
  shift
fi
readonly wanted
take_mode "$@"
one_at_a_time trust
status=0
[[ $wanted != *syft* ]] || build syft "$syft_default" github.com/anchore/syft "-X main.version=$syft_default" \
  github.com/anchore/syft/cmd/syft || status=1
build cosign "$cosign_default" "$cosign_module" "-X sigs.k8s.io/release-utils/version.gitVersion=v$cosign_default" \
  "$cosign_module/cmd/cosign" || status=1
[[ $wanted != *crane* ]] || build crane "$crane_default" "$crane_module" "-X $crane_module/cmd/crane/cmd.Version=$crane_default" \
  "$crane_module/cmd/crane" || status=1
exit $status
