// Implements objects of a program that graphs keep.
#include <climits>
#include <vector>

#include "simgpu/cuda/context.h"
#include "simgpu/cuda/graph.h"
#include "simgpu/graphs/user_object.h"

using namespace simgpu;

namespace simgpu {

UserObject::UserObject(void* object, CUhostFn destroy, unsigned references)
    : references_(references), object_(object), destroy_(destroy) {}

void UserObject::Retain(unsigned count) {
  const std::lock_guard lock(mutex_);
  references_ += count;
}

bool UserObject::Release(unsigned count) {
  {
    const std::lock_guard lock(mutex_);
    if (count > references_) return false;
    references_ -= count;
    if (references_ > 0) return true;
  }
  Handles<UserObject>().Remove(this);
  destroy_(object_);
  return true;
}

}  // namespace simgpu

namespace {

bool IsCount(unsigned count) { return count > 0 && count <= INT_MAX; }

}  // namespace

extern "C" {

CUresult cuUserObjectCreate(CUuserObject* result, void* pointer, CUhostFn destroy, unsigned references,
                            unsigned flags) {
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  if (result == nullptr || destroy == nullptr || !IsCount(references) ||
      flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *result = reinterpret_cast<CUuserObject>(
      Handles<UserObject>().Add(std::make_shared<UserObject>(pointer, destroy, references)));
  return CUDA_SUCCESS;
}

CUresult cuUserObjectRetain(CUuserObject handle, unsigned count) {
  const auto object = Handles<UserObject>().Find(handle);
  if (object == nullptr || !IsCount(count)) return CUDA_ERROR_INVALID_VALUE;
  object->Retain(count);
  return CUDA_SUCCESS;
}

CUresult cuUserObjectRelease(CUuserObject handle, unsigned count) {
  const auto object = Handles<UserObject>().Find(handle);
  if (object == nullptr || !IsCount(count)) return CUDA_ERROR_INVALID_VALUE;
  return object->Release(count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphRetainUserObject(CUgraph graph_handle, CUuserObject handle, unsigned count, unsigned flags) {
  const auto graph = Handles<Graph>().Find(graph_handle);
  const auto object = Handles<UserObject>().Find(handle);
  if (graph == nullptr || object == nullptr || !IsCount(count) ||
      (flags & ~unsigned{CU_GRAPH_USER_OBJECT_MOVE}) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if ((flags & CU_GRAPH_USER_OBJECT_MOVE) == 0) object->Retain(count);
  graph->references.push_back(std::make_shared<UserReference>(object, count));
  return CUDA_SUCCESS;
}

// Replaces the graph's references by one that holds the rest. The new one exists before the old ones go, so
// that the object lives.
CUresult cuGraphReleaseUserObject(CUgraph graph_handle, CUuserObject handle, unsigned count) {
  const auto graph = Handles<Graph>().Find(graph_handle);
  const auto object = Handles<UserObject>().Find(handle);
  if (graph == nullptr || object == nullptr || !IsCount(count)) return CUDA_ERROR_INVALID_VALUE;
  auto& held = graph->references;
  unsigned all = 0;
  for (const auto& reference : held) all += reference->object() == object ? reference->count() : 0;
  if (count > all) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<UserReference> rest;
  if (all > count) {
    object->Retain(all - count);
    rest = std::make_shared<UserReference>(object, all - count);
  }
  std::erase_if(held, [&](const auto& reference) { return reference->object() == object; });
  if (rest != nullptr) held.push_back(std::move(rest));
  return CUDA_SUCCESS;
}

}  // extern "C"
