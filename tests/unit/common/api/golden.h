// Holds objects as a real API server (1.34.9) sent them, down to the last field. The resource's name is
// ours.
#pragma once

namespace crossover::api {

inline constexpr char kGoldenNode[] =
    R"json({"kind":"Node","apiVersion":"v1","metadata":{"name":"n1","uid":"b8c2e343-2ae4-4bbe-98c7-f2d8b6dadd97)json"
    R"json(","resourceVersion":"212","creationTimestamp":"2026-11-21T01:44:37Z","labels":{"kubernetes.io/hostna)json"
    R"json(me":"n1"},"managedFields":[{"manager":"curl","operation":"Update","apiVersion":"v1","time":"2026-11-)json"
    R"json(21T01:44:37Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:kubernetes.io/)json"
    R"json(hostname":{}}}}},{"manager":"curl","operation":"Update","apiVersion":"v1","time":"2026-11-21T01:44:3)json"
    R"json(7Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:allocatable":{".":{},"f:cpu":{},"f:crossover.)json"
    R"json(dev/slot":{},"f:memory":{},"f:pods":{}},"f:capacity":{".":{},"f:cpu":{},"f:crossover.dev/slot":{},"f)json"
    R"json(:memory":{},"f:pods":{}},"f:conditions":{".":{},"k:{\"type\":\"Ready\"}":{".":{},"f:lastHeartbeatTim)json"
    R"json(e":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}}}},"subresource":"status"}]},"spec":{},"s)json"
    R"json(tatus":{"capacity":{"cpu":"32","crossover.dev/slot":"4","memory":"64Gi","pods":"110"},"allocatable":)json"
    R"json({"cpu":"32","crossover.dev/slot":"4","memory":"64Gi","pods":"110"},"conditions":[{"type":"Ready","st)json"
    R"json(atus":"True","lastHeartbeatTime":null,"lastTransitionTime":null}],"daemonEndpoints":{"kubeletEndpoin)json"
    R"json(t":{"Port":0}},"nodeInfo":{"machineID":"","systemUUID":"","bootID":"","kernelVersion":"","osImage":")json"
    R"json(","containerRuntimeVersion":"","kubeletVersion":"","kubeProxyVersion":"","operatingSystem":"","archi)json"
    R"json(tecture":""}}})json";

inline constexpr char kGoldenPod[] =
    R"json({"metadata":{"name":"train-1","namespace":"default","uid":"784f3fbc-4ed9-4d22-8b78-523e4b79f042","re)json"
    R"json(sourceVersion":"220","generation":1,"creationTimestamp":"2026-11-21T01:44:45Z","annotations":{"cross)json"
    R"json(over.dev/gang":"job-a"},"managedFields":[{"manager":"kube-scheduler","operation":"Update","apiVersio)json"
    R"json(n":"v1","time":"2026-11-21T01:44:45Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:conditions")json"
    R"json(:{".":{},"k:{\"type\":\"PodScheduled\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:m)json"
    R"json(essage":{},"f:observedGeneration":{},"f:reason":{},"f:status":{},"f:type":{}}}}},"subresource":"stat)json"
    R"json(us"},{"manager":"kubectl-create","operation":"Update","apiVersion":"v1","time":"2026-11-21T01:44:45Z)json"
    R"json(","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:crossover.dev/gang":{)json"
    R"json(}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:imagePullPolicy":{},"f:na)json"
    R"json(me":{},"f:resources":{".":{},"f:limits":{".":{},"f:crossover.dev/slot":{}},"f:requests":{".":{},"f:c)json"
    R"json(rossover.dev/slot":{}}},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},"f:dnsPolicy)json"
    R"json(":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:t)json"
    R"json(erminationGracePeriodSeconds":{}}}}]},"spec":{"containers":[{"name":"c","image":"x","resources":{"li)json"
    R"json(mits":{"crossover.dev/slot":"1"},"requests":{"crossover.dev/slot":"1"}},"terminationMessagePath":"/d)json"
    R"json(ev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"Always"}],"restartPolicy":")json"
    R"json(Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","securityContext":{},"schedule)json"
    R"json(rName":"default-scheduler","tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists",)json"
    R"json("effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Ex)json"
    R"json(ists","effect":"NoExecute","tolerationSeconds":300}],"priority":0,"enableServiceLinks":true,"preempt)json"
    R"json(ionPolicy":"PreemptLowerPriority"},"status":{"phase":"Pending","conditions":[{"type":"PodScheduled",)json"
    R"json("observedGeneration":1,"status":"False","lastProbeTime":null,"lastTransitionTime":"2026-11-21T01:44:)json"
    R"json(45Z","reason":"Unschedulable","message":"0/3 nodes are available: no new claims to deallocate, preem)json"
    R"json(ption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."}],"qosClass":"BestEffor)json"
    R"json(t"}})json";

}  // namespace crossover::api
