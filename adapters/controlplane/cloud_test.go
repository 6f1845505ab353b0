package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
	"github.com/plimsoll-go/plimsoll/adapters/controller/state"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Conditions are how a [Cloud] behaves.
type Conditions struct {
	// JoinAfter is the time from a launch until the node is registered, and ReadyAfter from there until it is ready.
	// Machines keep the conditions of their launch.
	JoinAfter, ReadyAfter time.Duration
	// NeverJoins says that the machines' nodes are not registered at all.
	NeverJoins bool
	// Unavailable says which offerings have run out; nil is none.
	Unavailable func(scheduling.LaunchOption) bool
}

// MachineRecord is the history of one machine. A zero time has not come yet.
type MachineRecord struct {
	Name                  string
	Order                 controller.Order
	Launched, Ready, Gone time.Time
	// Waiting are the pods of the order that had no node at the launch, by namespace/name, without those that spread:
	// kube-scheduler may bind the others of their app so that they have to go elsewhere. A launch of a step of consolidation is
	// for pods that still run on other nodes.
	Waiting    []string
	conditions Conditions
	joined     bool
	notice     *disruption.Interruption
}

// Cloud is a cloud whose machines become nodes of a [ControlPlane]. It implements [controller.Provider].
type Cloud struct {
	client     kubernetes.Interface
	catalog    *instancetypes.Catalog
	mu         sync.Mutex
	conditions Conditions
	// machines are all machines in the order of their launch, also terminated ones.
	machines []*MachineRecord
}

// NewCloud starts a cloud with the offerings of the catalog. It runs as long as the test.
func NewCloud(t testing.TB, p *ControlPlane, catalog *instancetypes.Catalog) *Cloud {
	c := &Cloud{client: p.Client, catalog: catalog}
	ctx, stop := context.WithCancel(context.Background()) // t.Context ends before the cleanups do
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			if err := c.step(ctx); err != nil && ctx.Err() == nil {
				t.Errorf("cloud: %v", err)
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	t.Cleanup(func() { stop(); done.Wait() })
	return c
}

// Set changes the conditions for machines that are launched from now on.
func (c *Cloud) Set(conditions Conditions) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conditions = conditions
}

// Interrupt gives notice that the machine of a node is taken away after the given time.
func (c *Cloud) Interrupt(node string, after time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.machines, func(m *MachineRecord) bool { return m.Name == node && m.Gone.IsZero() })
	if i < 0 {
		return fmt.Errorf("no machine runs as node %s", node)
	}
	c.machines[i].notice = &disruption.Interruption{At: now().Add(after), Kind: "spot"}
	return nil
}

// Records returns all machines in the order of their launch, also terminated ones.
func (c *Cloud) Records() []MachineRecord {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]MachineRecord, len(c.machines))
	for i, m := range c.machines {
		out[i] = *m
	}
	return out
}

// PricePerHour is the price of all machines that are not terminated.
func (c *Cloud) PricePerHour() (sum offerings.Price) {
	for _, m := range c.Records() {
		if m.Gone.IsZero() {
			sum += m.Order.Option.Price
		}
	}
	return sum
}

// Launch starts a machine.
func (c *Cloud) Launch(ctx context.Context, order controller.Order) (string, error) {
	waiting, err := c.waiting(ctx, order.Launch.Pods)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.machines {
		if m.Order.ID == order.ID {
			return m.Name, nil
		}
	}
	if c.conditions.Unavailable != nil && c.conditions.Unavailable(order.Option) {
		return "", fmt.Errorf("%s in %s: %w", order.Option.InstanceType, order.Option.Zone, controller.ErrInsufficientCapacity)
	}
	m := &MachineRecord{Name: fmt.Sprintf("node-%03d", len(c.machines)+1), Order: order, Launched: now(), Waiting: waiting, conditions: c.conditions}
	c.machines = append(c.machines, m)
	return m.Name, nil
}

// waiting returns those of the pods, by namespace/name, that have no node and do not spread.
func (c *Cloud) waiting(ctx context.Context, pods []string) ([]string, error) {
	var out []string
	for _, name := range pods {
		key := state.PodKey(name)
		pod, err := c.client.CoreV1().Pods(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, err
		case pod.Spec.NodeName == "" && len(pod.Spec.TopologySpreadConstraints) == 0:
			out = append(out, name)
		}
	}
	return out, nil
}

// Terminate stops a machine; its node and the node's pods go with it.
func (c *Cloud) Terminate(ctx context.Context, m controller.Machine) error {
	c.mu.Lock()
	for _, x := range c.machines {
		if x.Name == m.Name && x.Gone.IsZero() {
			x.Gone = now()
		}
	}
	c.mu.Unlock()
	return c.deleteNode(ctx, m.Name)
}

// Machines lists the machines.
func (c *Cloud) Machines(context.Context) ([]controller.Machine, error) {
	var out []controller.Machine
	for _, m := range c.Records() {
		if m.Gone.IsZero() {
			m.Order.Launch.Pods, m.Order.Launch.Options = nil, nil // no cloud would keep these
			out = append(out, controller.Machine{Name: m.Name, Order: m.Order, Created: m.Launched, Facts: disruption.Machine{Interruption: m.notice}})
		}
	}
	return out, nil
}

// step registers nodes, makes them ready, and takes away machines, where it is time to.
func (c *Cloud) step(ctx context.Context) error {
	for _, m := range c.Records() {
		joins := m.Launched.Add(m.conditions.JoinAfter)
		var err error
		switch {
		case !m.Gone.IsZero():
		case m.notice != nil && now().After(m.notice.At):
			err = c.Terminate(ctx, controller.Machine{Name: m.Name})
		case !m.joined && !m.conditions.NeverJoins && now().After(joins):
			err = c.register(ctx, &m)
		case m.joined && m.Ready.IsZero() && now().After(joins.Add(m.conditions.ReadyAfter)):
			err = c.makeReady(ctx, m.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// register creates the node of a machine. It is not ready, and has not yet the labels that Karpenter sets on nodes that are.
func (c *Cloud) register(ctx context.Context, m *MachineRecord) error {
	node, err := m.Order.Launch.Node(m.Name, &m.Order.Option, c.catalog)
	if err != nil {
		return err
	}
	delete(node.Labels, scheduling.RegisteredLabel)
	delete(node.Labels, scheduling.InitializedLabel)
	node.Spec.ProviderID = "test:///" + m.Name
	node.Spec.Taints = append(node.Spec.Taints, m.Order.Launch.StartupTaints...)
	node.Status.Conditions = []corev1.NodeCondition{condition(corev1.ConditionFalse)}
	if _, err := c.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return err
	}
	return c.note(ctx, m.Name, func(m *MachineRecord) { m.joined = true })
}

// makeReady makes the node of a machine ready.
func (c *Cloud) makeReady(ctx context.Context, name string) error {
	done, err := setReady(ctx, c.client, name, corev1.ConditionTrue)
	if err != nil || !done {
		return err
	}
	return c.note(ctx, name, func(m *MachineRecord) { m.Ready = now() })
}

// note changes the record of a machine. The node of a machine that was terminated meanwhile is deleted.
func (c *Cloud) note(ctx context.Context, name string, f func(*MachineRecord)) error {
	c.mu.Lock()
	i := slices.IndexFunc(c.machines, func(m *MachineRecord) bool { return m.Name == name })
	f(c.machines[i])
	gone := !c.machines[i].Gone.IsZero()
	c.mu.Unlock()
	if gone {
		return c.deleteNode(ctx, name)
	}
	return nil
}

// deleteNode deletes a node as the cloud's node controller would, and its pods as the pod garbage collector would after forty
// seconds.
func (c *Cloud) deleteNode(ctx context.Context, name string) error {
	err := c.client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	pods, err := c.client.CoreV1().Pods(corev1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.nodeName", name).String()})
	if err != nil {
		return err
	}
	return deletePods(ctx, c.client, pods.Items)
}

// now is the time. The components of a control plane read the clock of the machine, too.
func now() time.Time { return time.Now() }

// launchedTwice returns, for each pod, the machines that one run of the controller launched for it while another was on its
// way, in the order of their launch. It leaves out:
//   - pods that had a node at the second launch, e.g. on a node that a killed run had begun to drain, and that the next run
//     opened again: a step of consolidation may launch a machine for them;
//   - machines of earlier runs, which may serve other pods than those that they were launched for: knowsMachines holds for them.
func launchedTwice(records []MachineRecord) []string {
	var out []string
	last := map[string]MachineRecord{}
	for _, m := range records {
		run, _, _ := strings.Cut(m.Order.ID, "-")
		for _, pod := range m.Waiting {
			before, ok := last[run+pod]
			if ok && toCome(before.Gone, m.Launched) && toCome(before.Ready, m.Launched) {
				out = append(out, fmt.Sprintf("%s and %s for pod %s", before.Name, m.Name, pod))
			}
			last[run+pod] = m
		}
	}
	return out
}

// toCome reports whether a time of a record was still to come.
func toCome(t, now time.Time) bool { return t.IsZero() || t.After(now) }

func TestLaunchedTwice(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2026, time.November, 16, 0, 0, second, 0, time.UTC) }
	first := MachineRecord{Name: "node-1", Order: controller.Order{ID: "run1-1-0"}, Launched: at(0), Ready: at(4), Waiting: []string{"default/api-1"}}
	second := func(change func(*MachineRecord)) []string {
		m := MachineRecord{Name: "node-2", Order: controller.Order{ID: "run1-2-0"}, Launched: at(2), Ready: at(6), Waiting: []string{"default/api-1"}}
		change(&m)
		return launchedTwice([]MachineRecord{first, m})
	}
	require.Equal(t, []string{"node-1 and node-2 for pod default/api-1"}, second(func(*MachineRecord) {}))
	require.Empty(t, second(func(m *MachineRecord) { m.Launched = at(5) }), "the first was ready")
	require.Empty(t, second(func(m *MachineRecord) { m.Order.ID = "run2-1-0" }))
	require.Empty(t, second(func(m *MachineRecord) { m.Waiting = []string{"default/web-1"} }))
	require.Empty(t, second(func(m *MachineRecord) { m.Waiting, m.Order.Launch.Pods = nil, slices.Clone(first.Waiting) }), "the pod had been bound to another node")
	first.Gone, first.Ready = at(1), time.Time{}
	require.Empty(t, second(func(*MachineRecord) {}), "the first was terminated")
	first.Gone = at(3)
	require.NotEmpty(t, second(func(*MachineRecord) {}))
}
