package steps

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// stepCheck is one step as it is judged.
type stepCheck struct {
	cluster *clusterState
	report  *rule.Report
	bounds  []snapshot.SpotBound
	number  int
	step    *disruption.Step
	// going are the nodes that it removes, in its order; moves the evictions that can be carried out; launched the objects
	// of the nodes that its launches become, by name; launchNodes the nodes in the topology until then.
	going       []*clusterNode
	moves       []move
	launched    map[string]*corev1.Node
	launchNodes []*snapshot.Node
	// left are the groups of the pods that are not evicted, and end with their node, by node.
	left map[string][]*binding.Group
}

// move is an eviction with its pod.
type move struct {
	*disruption.Eviction
	pod       *corev1.Pod
	successor *snapshot.Pod
	// was and will are the groups of the pod where it is, and where it goes.
	was, will *binding.Group
}
