package main

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// cluster is the API server, the controllers that make pods again, and kube-scheduler. It tells of each change, as watch
// events do. It implements [controller.Evictor] and [controller.Nominator].
type cluster struct {
	ledger *ledger
	nodes  map[string]*corev1.Node
	pods   map[string]*corev1.Pod
	made   int // pods so far
	upsert func(...metav1.Object) error
	remove func(...metav1.Object) error
}

func newCluster(l *ledger) *cluster {
	return &cluster{ledger: l, nodes: map[string]*corev1.Node{}, pods: map[string]*corev1.Pod{}}
}

func (c *cluster) putPod(p *corev1.Pod) error {
	c.pods[scheduling.PodName(p)] = p
	return c.upsert(p)
}

// create makes a pod, with a UID of its own.
func (c *cluster) create(p *corev1.Pod) error {
	c.made++
	p.UID = types.UID("pod-" + strconv.Itoa(c.made))
	return c.putPod(p)
}

func (c *cluster) deletePod(name string) error {
	p := c.pods[name]
	if p == nil {
		return nil
	}
	delete(c.pods, name)
	return c.remove(p)
}

// recreate replaces a pod by one that has no node yet, as its controller does.
func (c *cluster) recreate(name string) error {
	p := c.pods[name].DeepCopy()
	if err := c.deletePod(name); err != nil {
		return err
	}
	p.Spec.NodeName, p.Status = "", corev1.PodStatus{}
	return c.create(p)
}

func (c *cluster) putNode(n *corev1.Node) error {
	c.nodes[n.Name] = n
	return c.upsert(n)
}

// deleteNode removes a node and the agent on it, and returns how many other pods were on it.
func (c *cluster) deleteNode(name string) (pods int, err error) {
	n := c.nodes[name]
	if n == nil {
		return 0, nil
	}
	if err := c.deletePod(scheduling.PodName(agentPod(name))); err != nil {
		return 0, err
	}
	for _, pod := range c.on(name) {
		pods++
		if err := c.recreate(pod); err != nil {
			return pods, err
		}
	}
	delete(c.nodes, name)
	return pods, c.remove(n)
}

// on returns the pods of a node, the agent aside, by name.
func (c *cluster) on(node string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.pods)) {
		if p := c.pods[name]; p.Spec.NodeName == node && p.Labels["app"] != "" {
			out = append(out, name)
		}
	}
	return out
}

// count counts the pods of services and jobs, and those of them that are pending.
func (c *cluster) count() (pods, pending int) {
	for _, p := range c.pods {
		if p.Labels["app"] == "" {
			continue
		}
		pods++
		if p.Spec.NodeName == "" {
			pending++
		}
	}
	return pods, pending
}

// join makes the node of a machine, and the agent's pod on it, as kubelet and controllers do at its start.
func (c *cluster) join(n *corev1.Node, now time.Time) error {
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now)}}
	if err := c.putNode(n); err != nil {
		return err
	}
	agent := agentPod(n.Name)
	agent.Spec.NodeName, agent.Status.Phase = n.Name, corev1.PodRunning
	return c.create(agent)
}

// schedule binds pending pods as kube-scheduler does. A pod that fits no node loses its nomination.
func (c *cluster) schedule(catalog *instancetypes.Catalog, now time.Time) error {
	p := scheduling.Problem{Catalog: catalog}
	for _, name := range slices.Sorted(maps.Keys(c.pods)) {
		if pod := c.pods[name]; pod.Spec.NodeName == "" {
			p.Pods = append(p.Pods, pod)
		} else {
			p.Running = append(p.Running, pod)
		}
	}
	if len(p.Pods) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(c.nodes)) {
		p.Nodes = append(p.Nodes, c.nodes[name])
	}
	bindings, err := provisioning.Bind(p, uint64(now.Unix()))
	if err != nil {
		return err
	}
	for _, b := range bindings {
		pod := c.pods[b.Pod.String()].DeepCopy()
		nominated := pod.Status.NominatedNodeName
		pod.Status.NominatedNodeName = ""
		if b.Node == "" {
			if nominated != "" {
				if err := c.putPod(pod); err != nil {
					return err
				}
			}
			continue
		}
		pod.Spec.NodeName, pod.Status.Phase = b.Node, corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		c.ledger.bound++
		if err := c.putPod(pod); err != nil {
			return err
		}
	}
	return nil
}

// SetTaint sets or removes a taint of the controller.
func (c *cluster) SetTaint(_ context.Context, node string, taint corev1.Taint, on bool) error {
	if c.nodes[node] == nil {
		return nil
	}
	n := c.nodes[node].DeepCopy()
	controller.ApplyTaint(n, taint, on)
	return c.putNode(n)
}

// Nominate writes a pod's status.nominatedNodeName.
func (c *cluster) Nominate(_ context.Context, pod *corev1.Pod, node string) error {
	p := c.pods[scheduling.PodName(pod)]
	if p == nil || p.UID != pod.UID || p.Spec.NodeName != "" {
		return nil
	}
	p = p.DeepCopy()
	p.Status.NominatedNodeName = node
	return c.putPod(p)
}

// Evict evicts a pod if the budget of its service allows: a tenth of the pods, rounded up, may be away.
func (c *cluster) Evict(_ context.Context, pod *corev1.Pod) error {
	name := scheduling.PodName(pod)
	if p := c.pods[name]; p == nil || p.UID != pod.UID {
		return nil
	}
	all, away := 0, 0
	for _, p := range c.pods {
		if p.Labels["app"] == pod.Labels["app"] {
			all++
			if p.Spec.NodeName == "" {
				away++
			}
		}
	}
	if away >= (all+9)/10 {
		return controller.ErrEvictionBlocked
	}
	c.ledger.moves[name]++
	return c.recreate(name)
}
