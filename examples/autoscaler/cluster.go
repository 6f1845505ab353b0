package main

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// cluster stands for the API server: nodes, pods, and the fields of NodeClaims. Objects
// must not be changed but replaced by changed copies, because the session keeps them.
type cluster struct {
	nodes    map[string]*corev1.Node
	pods     map[string]*corev1.Pod
	machines map[string]*disruption.Machine
	// changed names the objects that changed since the session was last told, known those
	// that it was told of.
	changedNodes, changedPods map[string]bool
	knownNodes, knownPods     map[string]bool
}

func newCluster() *cluster {
	return &cluster{
		nodes: map[string]*corev1.Node{}, pods: map[string]*corev1.Pod{}, machines: map[string]*disruption.Machine{},
		changedNodes: map[string]bool{}, changedPods: map[string]bool{}, knownNodes: map[string]bool{}, knownPods: map[string]bool{},
	}
}

func (c *cluster) putPod(p *corev1.Pod) {
	c.pods[scheduling.PodName(p)] = p
	c.changedPods[scheduling.PodName(p)] = true
}

func (c *cluster) deletePod(name string, now time.Time) {
	if p := c.pods[name]; p != nil {
		c.stir(p.Spec.NodeName, now)
		delete(c.pods, name)
		c.changedPods[name] = true
	}
}

func (c *cluster) putNode(n *corev1.Node) {
	c.nodes[n.Name] = n
	c.changedNodes[n.Name] = true
}

// deleteNode removes a node, and the agent with it.
func (c *cluster) deleteNode(name string, now time.Time) {
	c.deletePod(scheduling.PodName(agentPod(name)), now)
	delete(c.nodes, name)
	delete(c.machines, name)
	c.changedNodes[name] = true
}

// stir notes that a pod came to a node or left it.
func (c *cluster) stir(node string, now time.Time) {
	if m := c.machines[node]; m != nil {
		m.LastPodEvent = now
	}
}

// bind puts a pod onto a node, where it is ready at once. Without a node it waits.
func (c *cluster) bind(name, node string, now time.Time) {
	p := c.pods[name].DeepCopy()
	c.stir(p.Spec.NodeName, now)
	c.stir(node, now)
	p.Spec.NodeName, p.Status = node, corev1.PodStatus{}
	if node != "" {
		p.Status.Phase = corev1.PodRunning
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	c.putPod(p)
}

// on returns the pods of a node, the agent aside, by name.
func (c *cluster) on(node string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.pods)) {
		if p := c.pods[name]; p.Spec.NodeName == node && p.Name != "agent-"+node {
			out = append(out, name)
		}
	}
	return out
}

// pending counts the pods that wait.
func (c *cluster) pending() int {
	n := 0
	for _, p := range c.pods {
		if p.Spec.NodeName == "" {
			n++
		}
	}
	return n
}

// agents counts the agent's pods.
func (c *cluster) agents() int {
	n := 0
	for _, p := range c.pods {
		if strings.HasPrefix(p.Name, "agent-") {
			n++
		}
	}
	return n
}

// ready says whether a node is there and ready.
func (c *cluster) ready(node string) bool {
	return c.nodes[node] != nil && c.nodes[node].Labels[scheduling.InitializedLabel] == "true"
}

// open reports whether a node exists or is being launched, and has no taints.
func (c *cluster) open(node string) bool {
	return c.nodes[node] != nil && len(c.nodes[node].Spec.Taints) == 0
}

// join makes the node of a machine ready, as kubelet and controllers do at its start.
func (c *cluster) join(name string, now time.Time) {
	n := c.nodes[name].DeepCopy()
	n.Labels[scheduling.InitializedLabel], n.Labels[scheduling.RegisteredLabel] = "true", "true"
	c.putNode(n)
	c.machines[name].Initialized = now
	c.putPod(agentPod(name))
	c.bind(scheduling.PodName(agentPod(name)), name, now)
}

// taint adds a taint to a node, or removes it.
func (c *cluster) taint(name, key string, on bool) {
	if c.nodes[name] == nil {
		return
	}
	n := c.nodes[name].DeepCopy()
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
	if on {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
	}
	c.putNode(n)
}

// delta returns the changes since the last call.
func (c *cluster) delta() scheduling.Delta {
	var d scheduling.Delta
	for _, name := range slices.Sorted(maps.Keys(c.changedPods)) {
		switch p := c.pods[name]; {
		case p != nil:
			d.Pods = append(d.Pods, p)
			c.knownPods[name] = true
		case c.knownPods[name]:
			namespace, short, _ := strings.Cut(name, "/")
			d.Removed.Pods = append(d.Removed.Pods, types.NamespacedName{Namespace: namespace, Name: short})
			delete(c.knownPods, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.changedNodes)) {
		switch n := c.nodes[name]; {
		case n != nil:
			d.Nodes = append(d.Nodes, n)
			c.knownNodes[name] = true
		case c.knownNodes[name]:
			d.Removed.Nodes = append(d.Removed.Nodes, name)
			delete(c.knownNodes, name)
		}
	}
	clear(c.changedPods)
	clear(c.changedNodes)
	return d
}
