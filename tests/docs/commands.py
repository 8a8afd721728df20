"""Lists the commands that pages of the documentation tell users to type, and what runs each: a test as it is written
there, or a file that runs a command like it."""

import re
from dataclasses import dataclass

from tests.docs.pages import pages, prose, read

_SETS = r"(?:[A-Z_]+=\S+ )"  # a variable of the environment
# The first word of these is a verb.
_VERBOSE = r"(?:kubectl|helm|crossover|docker|podman|skopeo|crictl|kind|nvidia-ctk|cosign)"
_OTHERS = (r"(?:make|crossover-\w+|cmake|ctest|tar|python3|ln|umount|semanage|restorecon|chcon|sha256sum|"
           r"(?:tools|examples)/\S+\.(?:sh|py))")
# A program follows the variables.
_BEGINS = re.compile(rf"{_SETS}*(?:[\w./$-]*/)?(?:{_VERBOSE}|{_OTHERS}|run)(?: |$)|{_SETS}+\S")
_BLOCK, _FENCED = re.compile(r"^ {4,}(\S.*)$"), re.compile(r"^(\s*\S.*)$")
_FENCE, _SHELLS = "```", ("", "sh", "bash", "console")  # a fence names a language, or none
_REMARK = re.compile(r"(?:^|\s{2,})# .*$")
# These commands stand within a line of text. A verb without arguments is only the command's name.
_INLINE = re.compile(rf"`({_SETS}*(?:{_VERBOSE}\s+[^`\s]+|{_OTHERS})\s+[^`]+)`")

# These are for a cluster. tests/cluster/release/documented.py runs them while two jobs share GPUs.
_LIVE = re.compile(r"kubectl (?:(?:crossover(?! servers \|)|get|describe|events|exec|rollout status|annotate) |"
                   r"logs (?!.*--previous)|label node NODE nvidia)|helm (?:upgrade|rollback|history|list|get) ")
# The others are (pattern, file that runs a command like it, words of that file which run it).
_ELSEWHERE = (
    (r"kubectl (?:create|label) namespace crossover-system", "testing/cluster/release.py",
     '"label", "namespace", NAMESPACE'),
    (r"kubectl label namespace NAMESPACE crossover.dev/webhook=", "tests/cluster/release/test_helm.py",
     "crossover.dev/webhook=ignore"),
    (r"kubectl label node NODE crossover.dev/configuration=", "tests/cluster/node/test_switches.py",
     "crossover.dev/configuration"),
    (r"kubectl apply --server-side --kustomize ", "tests/cluster/release/test_chart.py", '"--kustomize"'),
    (r"kubectl delete crd |kubectl --namespace crossover-system delete (?:secret/|job )",
     "tests/cluster/release/test_helm.py", "documented.run("),
    (r"kubectl rollout restart ", "tests/cluster/release/test_helm.py", "documented.run(restart)"),
    (r"helm install ", "testing/cluster/release.py", '"--set"'),
    (r"helm template --no-hooks", "tests/cluster/release/test_gitops.py", '"--no-hooks"'),
    (r"helm test ", "tests/cluster/release/test_helm.py", 'release.do("test")'),
    (r"helm uninstall crossover --namespace crossover-system --wait", "tests/cluster/release/test_helm.py",
     'release.do("uninstall", "--wait")'),
    (r"helm uninstall .*--no-hooks", "benchmarks/cluster/opposed_helm.py", "--no-hooks"),
    (r"(?:build/dev/bin/)?crossover-deviceplugin --standalone ", "tests/process/cli/machine.py", '"--standalone"'),
    (r"crossover-deviceplugin --config ", "testing/cluster/node_daemon.py", '"--config"'),
    (r"crossover (?:top|timeline|mode|doctor)\b", "tests/process/cli/test_node.py", '"timeline"'),
    (r"crossover profiles\b", "tests/process/cli/test_profiles.py", '"profiles"'),
    (r"kubectl crossover servers \| crossover plan pipeline --cluster - ",
     "tests/cluster/monitoring/test_kubectl_plugin.py", '"plan", "pipeline", "--cluster", "-"'),
    (r"crossover plan pipeline ", "tests/process/cli/test_pipeline.py", '"plan", "pipeline", "--profile"'),
    (r"(?:build/dev/bin/)?crossover run ", "testing/commands.py", '"run"'),
    (r"crossover-extender --config ", "testing/cluster/control.py", '"--config"'),
    (r"crossover-extender --holders", "charts/crossover/templates/hooks/uninstall.yaml", "--holders"),
    (r"crossover-extender --try-webhook", "tests/cluster/release/test_helm.py", '"--try-webhook"'),
    (r"cmake --preset gpu |build/gpu/bin/", "tools/bare/build_and_run.sh", "cmake --build --preset gpu"),
    (r"(?:ONLY=\S+ )?benchmarks/gpu/run\b", "tests/process/benchmarks/test_gpu_suite.py", "benchmarks/gpu/run"),
    (r"python3 -m testing\.mutants ", "tools/soak/parts.py", '"testing.mutants"'),
    (r"python3 -m testing\.runtime_calls ", "tests/process/simgpu/runtime/test_library.py", "runtime_calls.recorded("),
    (r"python3 -m testing\.cluster\.rig", "tests/cluster/rig/test_tear_down.py", '"testing.cluster.rig"'),
    (r"LD_PRELOAD=\S+ CROSSOVER_SHRINK=", "testing/shrink/job.py", "CROSSOVER_SHRINK=settings.shrink"),
    (r"LD_PRELOAD=\S+ CROSSOVER_SOCKET=", "tools/bare/two_jobs.sh", "LD_PRELOAD=$build/lib/libcrossover.so"),
    (r"tools/build\.sh release ", "tools/build_release.sh", 'tools/build.sh "$preset"'),
    (r"tools/stage_images\.sh ", "tools/build_images.sh", "tools/stage_images.sh"),
    (r"tools/fuzz\.sh ", "Makefile", "@tools/fuzz.sh"),
    (r"tools/install\.sh --cluster", "tools/ci.sh", "tools/install.sh --cluster"),
    (r"tools/install\.sh --torch", "tools/ci.sh", "tools/install.sh --torch"),
    (r"python3 -m simgpu\.stand_ins\.stand_ins lay ", "tests/unit/simgpu/stand_ins/test_stand_ins.py",
     'self.run_main("lay"'),
    (r"python3 tools/readme_figures\.py", "tests/docs/test_figures.py", "readme_figures.rewritten("),
    (r"tools/install\.sh --release", "Makefile", "tools/install.sh --release"),
    (r"tools/install\.sh --verify", "tools/install.sh", 'trust.sh" --verify'),
    (r"cp \*\.sigstore\.json ", "tests/cluster/release/test_airgap.py", "shutil.copy(signature, self.dist)"),
    (r"python3 -m tools\.verify_release DIST cosign\.pub --layouts ", "tests/release/test_trust.py", '"--layouts"'),
    (r"python3 -m tools\.verify_release ", "tools/trust/known_bad.py", '"tools.verify_release"'),
    (r"cosign verify-blob ", "tools/trust/signatures.py", '"verify-blob"'),
    (r"cosign load ", "tests/release/test_trust.py", '"load"'),
    (r"cosign verify ", "tests/release/test_trust.py", '"verify"'),
    (r"cosign verify-attestation ", "tests/release/test_trust.py", '"verify-attestation"'),
    (r"python3 -m tools\.packages pin", "tests/unit/tools/packages/test_packages.py", 'program.main(["pin"])'),
    (r"cosign generate-key-pair", "tools/trust/known_bad.py", '"generate-key-pair"'),
    (r"sha256sum --check --strict ", "benchmarks/quality/verify.py", '"--check", "--strict"'),
    (r"python3 -m tools\.releases tag ", "tests/unit/tools/releases/test_releases.py", 'run("tag"'),
    (r"python3 -m tools\.releases entry ", "tests/unit/tools/releases/test_releases.py", 'run("entry"'),
    (r"python3 -m tools\.render_manifests", "tests/charts/test_manifests.py", "render_manifests.differences("),
    (r"cmake --preset dev && cmake --build build/dev ", "tools/build.sh", 'cmake --build --preset "$preset"'),
    (r"SIMGPU_(?:CONFIG|MACHINE)=\S+ examples/trainer/launch\.py ", "tests/process/examples/test_trainer.py",
     '"launch.py"'),
    (r"LD_LIBRARY_PATH=\S+ SIMGPU_MACHINE=\S+ build/dev/bin/vector_add", "tests/process/examples/CMakeLists.txt",
     "examples.vector_add COMMAND"),
    (r"RANK=\$rank SIMGPU_NODE=\S+ .*build/dev/bin/grid_product ", "tests/process/examples/test_grid.py",
     "grids.run("),
)
# No test runs these; the second part is the reason.
_BY_HAND = (
    (r"(?:[A-Z]+=\S+ )?make ", "a test looks whether the Makefile has the target"),
    (r"tar -xf ", "its version is a word in capitals; tests/process/cli/test_package.py unpacks what a release has"),
    (r"(?:TRACES=\S+ )?python3 -m benchmarks\.", "what results and pages are made with"),
    (r"kubectl logs .*--previous", "for containers that have ended"),
    (r"kubectl --namespace crossover-system delete secret crossover-admission-cert-manager", "no cert-manager is here"),
    (r"kubectl (?:drain|uncordon) ", "Kubernetes' own, and nodes of the tests are not emptied"),
    (r"kubectl delete (?:mutatingwebhookconfiguration|--kustomize) ", "for what is left behind by others"),
    (r"kubectl delete gpunode ", "of nodes whose daemon is gone for good; those of the tests keep theirs"),
    (r"docker build ", "no docker is here; tools/build_images.sh builds of the same files, by buildah"),
    (r"skopeo copy ", "no registry is here"),
    (r"kind load ", "no kind is here: its nodes are containers of docker"),
    (r"nvidia-ctk ", "NVIDIA's own, where a GPU is"),
    (r"umount ", "on nodes that are to have nothing of ours any more; those of the tests go as a whole"),
    (r"(?:semanage|restorecon|chcon) ", "nothing here enforces SELinux"),
    (r"ctest ", "a test looks whether there are tests of that label"),
    (r"cmake --list-presets", "CMake's own"),
    (r"KUBE_VERSION=VERSION tools/install/cluster\.sh --pin", "for a version that nothing here is of"),
    (r"(?:[A-Z_]+=\S+ )+\./(?:program|train)$", "the reader's own, on the software GPU; its tests start theirs so"),
)


@dataclass(frozen=True)
class Command:
    page: str
    text: str
    inline: bool = False  # it stands within a line of text

    @property
    def live(self):
        return _LIVE.match(self.text) is not None

    @property
    def runner(self):
        """Returns (file, its words that run the command), or None where no test does."""
        if self.live:
            return "tests/cluster/release/test_helm.py", "documented.run_all()"
        return next(((file, words) for pattern, file, words in _ELSEWHERE if re.match(pattern, self.text)), None)

    @property
    def by_hand(self):
        """Returns why no test runs the command, or "" where no reason is known."""
        return next((why for pattern, why in _BY_HAND if re.match(pattern, self.text)), "")


def typed(text):
    """Yields the command on each line that is shown as it is typed, without remarks, and "" for other lines."""
    fence = None  # the language of the fence around the line
    for line in text.splitlines():
        if line.startswith(_FENCE):
            fence = None if fence is not None else line.removeprefix(_FENCE).strip()
            continue
        block = _BLOCK.match(line) if fence is None else _FENCED.match(line) if fence in _SHELLS else None
        yield _REMARK.sub("", block.group(1)).strip() if block else ""


def commands_in(page, text):
    """Returns the commands of a page in their order, then those within lines of text. Lines joined by a backslash are
    one command."""
    found, begun = [], ""
    for words in typed(text):
        if not (begun or _BEGINS.match(words)):
            continue
        begun = f"{begun} {words}".strip()
        if begun.endswith("\\"):
            begun = begun[:-1].strip()
            continue
        found.append(Command(page, begun))
        begun = ""
    return found + [Command(page, " ".join(words.split()), True) for words in _INLINE.findall(prose(text))]


def commands():
    """Returns the commands of all pages for users and developers, each once. A command within a line of text that is
    the beginning of another command only mentions that one, and is left out."""
    found = {}
    for page in pages():
        if not page.startswith("docs/design/") and page != "CHANGELOG.md":
            for command in commands_in(page, read(page)):
                if command.text not in found or not command.inline:
                    found[command.text] = command
    return [command for text, command in found.items()
            if not command.inline or not any(other.startswith(f"{text} ") for other in found)]
