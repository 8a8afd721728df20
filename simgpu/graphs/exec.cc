#include "simgpu/graphs/exec.h"

#include <map>

#include "simgpu/cuda/capture.h"

namespace simgpu {

namespace {

// Guards launches of branched graphs. A launch reads the events that earlier launches have recorded, so
// launches of different graphs come one after the other as well.
std::mutex& LaunchMutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

GraphPlan PlanOf(const Graph& graph) {
  std::map<const GraphNode*, std::size_t> places;
  std::vector<PlanNode> nodes;
  for (const auto& node : graph.nodes) {
    PlanNode known{node->branch, node->gpu, {}};
    for (const GraphNode* dependency : node->dependencies)
      known.dependencies.push_back(places.at(dependency));
    places[node.get()] = nodes.size();
    nodes.push_back(std::move(known));
  }
  return PlanGraph(nodes);
}

}  // namespace

GraphExec::GraphExec(const Graph& graph) : references_(graph.references), plan_(PlanOf(graph)) {
  bool branched = plan_.gpus.size() > 1;
  for (const auto& node : graph.nodes) {
    nodes_.push_back({node->work, node->event, node->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD});
    branched = branched || node->event != nullptr;
  }
  if (!branched) return;
  for (const int gpu : plan_.gpus) lanes_.push_back(Lane::Start(gpu));
}

GraphExec::~GraphExec() {
  for (const auto& lane : lanes_) lane->Stop();
}

void GraphExec::Run(Lane& lane) const {
  for (const Node& node : nodes_) node.work->Run(lane);
}

CUresult GraphExec::LaunchBranches(const StreamPtr& stream) {
  const std::lock_guard lock(LaunchMutex());
  // This also orders the stream after what it has to follow.
  const WorkPtr before = MakeWait(last_ != nullptr ? last_ : Record::OfNow());
  if (const CUresult error = Submit(stream, CU_GRAPH_NODE_TYPE_GRAPH, before); error != CUDA_SUCCESS)
    return error;
  QueueNodes(stream->lane->Tail());
  for (const auto& lane : lanes_) stream->lane->EnqueueAtOnce(MakeWait(lane->Tail()));
  last_ = stream->lane->Tail();
  if (stream->shares_lane) NoteLast(*stream);
  return CUDA_SUCCESS;
}

// Never blocks: a node may wait for one that comes after it, in another rank of this process.
void GraphExec::QueueNodes(const RecordPtr& start) {
  for (const auto& lane : lanes_) lane->EnqueueAtOnce(MakeWait(start));
  std::vector<RecordPtr> over(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Step& step = plan_.steps[i];
    Lane& lane = *lanes_[step.branch];
    for (const std::size_t other : step.waits) lane.EnqueueAtOnce(MakeWait(over[other]));
    if (nodes_[i].event != nullptr) {
      QueueEvent(lane, nodes_[i]);
    } else {
      lane.EnqueueAtOnce(nodes_[i].work);
    }
    if (step.awaited) over[i] = lane.Tail();
  }
}

void GraphExec::QueueEvent(Lane& lane, const Node& node) {
  RecordPtr record = node.records ? lane.Tail() : nullptr;
  {
    const std::lock_guard lock(node.event->mutex);
    if (node.records) {
      node.event->record = record;
      node.event->capture = nullptr;
      node.event->nodes.clear();
    } else {
      record = node.event->record;
    }
  }
  if (!node.records && record != nullptr) lane.EnqueueAtOnce(MakeWait(record));
}

CUresult LaunchGraph(const StreamPtr& stream, const std::shared_ptr<GraphExec>& exec) {
  if (!exec->branched()) return Submit(stream, CU_GRAPH_NODE_TYPE_GRAPH, exec);
  // A graph with branches cannot be a part of another one here.
  if (IsCapturing(*stream)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return exec->LaunchBranches(stream);
}

}  // namespace simgpu
