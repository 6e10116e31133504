"""The spec as a checked model: facts about array libraries, and which wrappers to write.

The descriptions are what a reader of the JSON Schema sees, and what an error says is missing.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag

from gymbridge_generator import expressions, words

Form: TypeAlias = Literal["single", "vector", "parallel", "batched"]
ReadOnly: TypeAlias = Literal["ignored", "kept", "refused"]
Views: TypeAlias = Literal["writable", "read-only", "constant"]
DlpackVersion: TypeAlias = Literal["legacy", "1.0", "1.1", "1.2", "1.3"]
ExportKeyword: TypeAlias = Literal["stream", "max_version", "dl_device", "copy"]
Export: TypeAlias = Literal[
    "BackendNotInstalledError",
    "ConversionError",
    "CopyRequiredError",
    "UnconvertedContainerWarning",
    "__version__",
    "register_container",
]

MOST_BACKENDS = 64
"""The most libraries in a spec: the number of files grows with its square."""

BackendName: TypeAlias = Annotated[str, AfterValidator(words.backend_name)]
Dotted: TypeAlias = Annotated[str, AfterValidator(words.dotted_name)]
Name: TypeAlias = Annotated[str, AfterValidator(words.export_name)]
Type: TypeAlias = Annotated[str, AfterValidator(expressions.type_expression)]


def _kind_of_pairs(value: object) -> str:
    return "(text)" if isinstance(value, str) else "(array)"


# TOML has arrays and no tuples, so arrays are accepted here although the model is strict
Names: TypeAlias = Annotated[tuple[BackendName, ...], Field(strict=False, max_length=128)]
PairNames: TypeAlias = Annotated[tuple[BackendName, BackendName], Field(strict=False)]
Pairs: TypeAlias = Annotated[
    Annotated[Literal["all"], Tag("(text)")]
    | Annotated[tuple[PairNames, ...], Field(strict=False, max_length=4096), Tag("(array)")],
    Discriminator(_kind_of_pairs),
]


class _Table(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True
    )


class Dlpack(_Table):
    """Facts for the generic backend that differ from the defaults."""

    start: Dotted | None = None
    """The function to call once before arrays are made."""
    importer: Dotted | None = None
    """The function that imports, `<module>.from_dlpack` by default."""
    importer_takes: Literal["object", "capsule"] | None = None
    """Whether the importer wants an array or the capsule of one."""
    import_version: DlpackVersion | None = None
    """The newest DLPack that the importer understands."""
    asynchronous: bool | None = None
    """Whether the importer returns before it has read the memory; it then gets private copies."""
    prepare: Annotated[tuple[Name, ...], Field(strict=False)] | None = None
    """Methods that are called in turn before an array is exported: ["detach"]."""
    export_version: DlpackVersion | None = None
    """The newest DLPack to ask its arrays for."""
    export_keywords: Annotated[tuple[ExportKeyword, ...], Field(strict=False)] | None = None
    """The keywords that `__dlpack__` of its arrays takes; by default its signature is read."""
    not_exported: Annotated[tuple[Name, ...], Field(strict=False)] | None = None
    """Words in the text of dtypes whose arrays must not be asked to export themselves:
    ["string"]."""
    strides: Literal["any", "permuted", "row-major"] | None = None
    """Which layouts the importer takes."""
    negative_strides: bool | None = None
    """Whether the importer takes negative strides."""
    alignment: Annotated[int, Field(ge=1, le=4096)] | None = None
    """The alignment of memory, in bytes."""
    zero_d: bool | None = None
    """Whether there are arrays without dimensions; if not, they get one of length 1."""
    max_ndim: Annotated[int, Field(ge=1, le=64)] | None = None
    """The most dimensions an array can have."""
    dtypes: Annotated[tuple[Name, ...], Field(strict=False)] | None = None
    """The dtypes it has, by the names of NumPy and ml_dtypes."""
    narrows: dict[Name, Name] | None = None
    """The dtypes that replace others, `{ bool = "uint8" }`; without an entry a dtype is refused.
    Integers are narrowed only if every value fits."""
    reinterpret: Dotted | None = None
    """The function that gives memory another dtype of the same size, for the dtypes of ml_dtypes;
    by default arrays have a method `view`."""
    device_read: Name | None = None
    """The attribute of an array that holds its device, `device` by default."""
    device_move: Name | None = None
    """The method of an array that returns it on another device, `to_device` by default."""
    device_parse: Dotted | None = None
    """The function that turns text into a device; by default the method takes text."""
    device_within: Dotted | None = None
    """The context manager that takes a device, where there is no method; with `device_copy`."""
    device_copy: Dotted | None = None
    """The function that copies an array to the device of `device_within`."""


Reference: TypeAlias = Annotated[str, AfterValidator(words.reference)]


class Calls(_Table):
    """Functions for the usual array, `package.module:NAME`: generated code calls them directly.

    All are optional. A function may raise any error: the general path then takes the value. Without
    `to_numpy` and one of `from_numpy` and `from_numpy_to` only the general path is written.
    """

    to_numpy: Reference | None = None
    """Views an array on the host, without a copy."""
    from_numpy: Reference | None = None
    """Makes an array over aligned NumPy memory that may be written into."""
    from_numpy_to: Reference | None = None
    """Copies an array to a device, `(array, device)`; it may return None."""
    from_numpy_many: Reference | None = None
    """Copies several arrays to a device, `(arrays, device)`; it may return None."""
    item: Reference | None = None
    """Returns the number of an array with one element."""


class Backend(_Table):
    """One array library. The defaults suit a library that follows DLPack and the array API."""

    name: BackendName
    """how modules and texts spell it: "torch"."""
    title: Annotated[str, AfterValidator(words.title)]
    """how people spell it: "PyTorch"."""
    class_name: Annotated[str, AfterValidator(words.class_name)] | None = None
    """How class names spell it: "Torch"; by default made from the name."""
    module: Dotted
    """the module to import: "torch"."""
    array: Dotted
    """the type of its arrays at run time, beginning with the module: "torch.Tensor"."""
    annotation: Type | None = None
    """How signatures write the type of an array; by default as `array` does."""
    leaf: Type | None = None
    """What converters take for one array; by default that and Python's numbers."""
    action: Type | None = None
    """What an agent may pass as an action that is one array; by default an array."""
    device: Type | None = None
    """How signatures write a device; without it the library has no devices to choose from."""
    dtype: Type = "str"
    """How signatures write a dtype."""
    imports: (
        Annotated[
            tuple[Annotated[str, AfterValidator(expressions.import_statement)], ...],
            Field(strict=False, max_length=32),
        ]
        | None
    ) = None
    """What the type expressions need imported; by default the module."""
    extra: Annotated[str, AfterValidator(words.extra_name)] | None = None
    """The extra of gymbridge that installs it."""
    distribution: Annotated[str, AfterValidator(words.requirement)] | None = None
    """What pip installs if there is no extra; without both the library comes with gymbridge."""
    runtime: Annotated[str, AfterValidator(words.reference)] | None = None
    """Its hand-written backend, "package.module:NAME"; by default one is made from the facts."""
    mutable: bool = True
    """Whether its users can write into an array."""
    read_only: ReadOnly = "ignored"
    """What it does with read-only memory: write through it, keep it read-only or refuse it."""
    views: Views = "writable"
    """How others see its memory: "read-only" where several of its arrays may be over the same
    memory, or where its exports do not say whether they may be written into; "constant" where the
    memory also never changes while somebody views it."""
    copies_in: bool = False
    """Whether importing always copies."""
    host: bool = True
    """Whether its arrays are in host memory; if not, what goes there or comes from there is copied,
    and shared is what is on the same device already."""
    typed: bool = True
    """Whether it has types; if not, its arrays are a class of their own to type checkers."""
    calls: Calls | None = None
    """Functions for the usual array, which generated code calls directly."""
    dlpack: Dlpack | None = None
    """More facts for the generic backend."""


class Matrix(_Table):
    """Which wrappers are written."""

    backends: Names | None = None
    """The libraries to choose from; by default the spec's own and those chosen by the specs that it
    extends."""
    pairs: Pairs = "all"
    """"all", or pairs of names, where the environment's library comes first. In a spec that extends
    others "all" means the pairs with a library of its own."""
    forms: Annotated[tuple[Form, ...], Field(strict=False, min_length=1)] = ("single", "vector")
    """The kinds of environments to wrap."""


class Package(_Table):
    """The generated package."""

    name: Dotted | None = None
    """Its import name, which examples use: "mine.bridges"."""
    exports: Annotated[tuple[Export, ...], Field(strict=False)] = ()
    """The names of gymbridge_runtime that it re-exports."""
    array_conversion: bool = False
    """Whether it also re-exports ArrayConversion, the wrapper between any two libraries."""


class Spec(_Table):
    """A whole spec file."""

    spec_version: Literal[1]
    """the version of this format: 1."""
    extends: Annotated[tuple[str, ...], Field(strict=False, max_length=16)] = ()
    """Published specs whose libraries this spec can use: ["gymbridge"]."""
    package: Package = Package()
    backend: Annotated[tuple[Backend, ...], Field(strict=False, max_length=MOST_BACKENDS)] = ()
    """The array libraries."""
    matrix: Matrix = Matrix()
