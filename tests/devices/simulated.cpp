// A device for PyTorch that lives in host memory and behaves as a GPU does:
//
// - Only copies and kernels may touch its memory. Everything else ends the process: the pages are
//   closed (PROT_NONE), and open only while a copy or a kernel needs them.
// - It has two indices, and counts uploads, downloads and moves between the two.
// - A non_blocking copy is made at the next wait for the device, not before. A real GPU is less
//   late, and its delay differs from run to run.
// - It can refuse float64, as Apple's MPS does.
//
// PrivateUse1 is PyTorch's dispatch key for external devices. An operation without an
// implementation here goes through PyTorch's own CPU fallback, which stands for a kernel: the
// copies of the fallback are not counted.
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <sys/mman.h>
#include <torch/extension.h>

#include <functional>
#include <mutex>

namespace {

constexpr auto kDevice = c10::DeviceType::PrivateUse1;
constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);
constexpr c10::DeviceIndex kDevices = 2;

thread_local c10::DeviceIndex current_device = 0;
thread_local int kernels_running = 0;

struct Counts {
  long uploads = 0, downloads = 0, moves = 0;
};

// One lock for everything below; it is recursive, because a copy may itself need memory.
std::recursive_mutex lock;
Counts counts;
bool has_float64 = true;
auto& late_copies = *new std::vector<std::function<void()>>;  // never destroyed: exit runs none

// -- memory ---------------------------------------------------------------------------------------

struct Block {
  void* memory;
  size_t bytes;
  int users = 0;  // the copies and kernels that have it open
};

void release(void* context) {
  auto* block = static_cast<Block*>(context);
  munmap(block->memory, block->bytes);
  delete block;
}

struct Allocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    const c10::Device device(kDevice, current_device);
    if (bytes == 0) return {nullptr, device};
    void* memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    TORCH_CHECK(memory != MAP_FAILED, "the simulated device is out of memory");
    return {memory, new Block{memory, bytes}, &release, device};
  }
  void copy_data(void*, const void*, size_t) const override {
    TORCH_CHECK(false, "the host may not copy memory of the simulated device");
  }
};

Allocator allocator;
REGISTER_ALLOCATOR(kDevice, &allocator);

// Keeps the memory of a tensor open; `tensor` is a CPU tensor over that memory.
struct Open {
  Block* block = nullptr;
  at::Tensor tensor;

  explicit Open(const at::Tensor& original) : tensor(original.detach()) {
    if (original.is_cpu()) return;
    block = static_cast<Block*>(original.storage().data_ptr().get_context());
    if (block && block->users++ == 0) mprotect(block->memory, block->bytes, PROT_READ | PROT_WRITE);
    tensor = at::from_blob(original.data_ptr(), original.sizes(), original.strides(),
                           original.options().device(at::kCPU));
  }
  ~Open() {
    if (block && --block->users == 0) mprotect(block->memory, block->bytes, PROT_NONE);
  }
  Open(const Open&) = delete;
};

// -- copies ---------------------------------------------------------------------------------------

void synchronize() {
  std::lock_guard guard(lock);
  const auto copies = std::exchange(late_copies, {});
  for (const auto& copy : copies) copy();
}

void count(const at::Tensor& from, const at::Tensor& to) {
  if (kernels_running || from.numel() == 0) return;
  (from.is_cpu() ? counts.uploads : to.is_cpu() ? counts.downloads : counts.moves)++;
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  std::lock_guard guard(lock);
  if (from.is_cpu() || to.is_cpu() || from.device() != to.device()) count(from, to);
  const auto copy = [from, to] {
    const Open source(from), target(to);
    target.tensor.copy_(source.tensor);
  };
  if (non_blocking) {
    late_copies.emplace_back(copy);
  } else {
    synchronize();
    copy();
  }
  return to;
}

// Stores the result of a kernel whose size was unknown before.
at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  if (from.sizes() != to.sizes()) {
    const c10::DeviceGuard guard(to.device());
    to.storage().set_data_ptr_noswap(allocator.allocate(from.nbytes()));
    to.storage().set_nbytes(from.nbytes());
    to.unsafeGetTensorImpl()->set_sizes_contiguous(from.sizes());
  }
  return copy_from(from, to, false);
}

at::Scalar item(const at::Tensor& tensor) {
  std::lock_guard guard(lock);
  synchronize();
  if (!kernels_running) counts.downloads++;
  return Open(tensor).tensor.item();
}

// -- new tensors and views ------------------------------------------------------------------------

at::ScalarType checked(std::optional<at::ScalarType> dtype) {
  const auto given = c10::dtype_or_default(dtype);
  TORCH_CHECK_TYPE(has_float64 || given != at::kDouble,
                   "The simulated device doesn't support float64. Please use float32 instead.");
  return given;
}

c10::Device indexed(std::optional<at::Device> device) {
  if (!device || !device->has_index()) return {kDevice, current_device};
  TORCH_CHECK(device->index() < kDevices, "there is no ", *device);
  return *device;
}

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
                 std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>,
                 std::optional<at::MemoryFormat> format) {
  const c10::DeviceGuard guard(indexed(device));
  return at::detail::empty_generic(size, &allocator, kKeys, checked(dtype), format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef strides,
                         std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                         std::optional<at::Device> device, std::optional<bool>) {
  const c10::DeviceGuard guard(indexed(device));
  return at::detail::empty_strided_generic(size, strides, &allocator, kKeys, checked(dtype));
}

at::Tensor as_strided(const at::Tensor& tensor, c10::SymIntArrayRef size,
                      c10::SymIntArrayRef strides, std::optional<c10::SymInt> offset) {
  return at::native::as_strided_tensorimpl(
      tensor, C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(strides),
      offset ? std::make_optional(offset->expect_int()) : std::nullopt);
}

at::Tensor view(const at::Tensor& tensor, c10::SymIntArrayRef size) {
  return at::native::view(tensor, C10_AS_INTARRAYREF_SLOW(size));
}

// -- kernels --------------------------------------------------------------------------------------

void kernel(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  struct Running {
    Running() { kernels_running++; }
    ~Running() { kernels_running--; }
  } running;
  at::native::cpu_fallback(operation, stack);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&kernel>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("as_strided", &as_strided);
  library.impl("view", &view);
  library.impl("_copy_from", &copy_from);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
  library.impl("_local_scalar_dense", &item);
}

// -- PyTorch's queries about the device -----------------------------------------------------------

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kDevice; }
  c10::Device getDevice() const override { return {kDevice, current_device}; }
  c10::Device exchangeDevice(c10::Device device) const override {
    return {kDevice, std::exchange(current_device, device.index())};
  }
  void setDevice(c10::Device device) const override { current_device = device.index(); }
  void uncheckedSetDevice(c10::Device device) const noexcept override { setDevice(device); }
  c10::DeviceIndex deviceCount() const noexcept override { return kDevices; }
  // one stream for each index
  c10::Stream getStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  c10::Stream getDefaultStream(c10::Device device) const override { return getStream(device); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  void synchronizeStream(const c10::Stream&) const override { synchronize(); }
  void synchronizeDevice(const c10::DeviceIndex) const override { synchronize(); }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

struct Hooks final : at::PrivateUse1HooksInterface {
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  bool isAvailable() const override { return true; }
  c10::DeviceIndex deviceCount() const override { return kDevices; }
  c10::DeviceIndex getCurrentDevice() const override { return current_device; }
  // `to("cpu", non_blocking=True)` allocates here. Copies to any host memory are late.
  c10::Allocator* getPinnedMemoryAllocator() const override { return c10::GetAllocator(at::kCPU); }
};

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  module.def("take_transfers", [] {
    std::lock_guard guard(lock);
    const auto taken = std::exchange(counts, {});
    return std::make_tuple(taken.uploads, taken.downloads, taken.moves);
  });
  module.def("set_float64", [](bool has) { has_float64 = has; });
}
