package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// launch is a launch of the plan with the objects that it names.
type launch struct {
	*scheduling.Launch
	object string
	pool   *snapshot.Pool
	nodes  []*snapshot.Node // one per option, nil where the catalog knows none
	pods   []*snapshot.Pod
	node   *snapshot.Node // the first option as it stands, nil if it is not known
}

// first returns the first option, which price, limits and reservations count; nil if the catalog does not have it.
func (l *launch) first() *snapshot.Node {
	if len(l.nodes) == 0 {
		return nil
	}
	return l.nodes[0]
}

// promises returns the knowledge about labels that the provider sets: pods may rely on the requirements of the
// launch.
func (l *launch) promises(key string) snapshot.Opening {
	known := snapshot.About(key, snapshot.FromSelectors(l.Requirements))
	if !l.pool.Providers(key) || len(known) == 0 {
		return snapshot.Opening{}
	}
	return snapshot.Opening{Rule: snapshot.Every, Known: known}
}

func launchName(l *scheduling.Launch) string { return "launch/" + l.Name }

// launchCheck judges launches, one by one, each with all of its options.
type launchCheck struct {
	report *Report
	state  *snapshot.State
	// launches are those judged so far, in the order of the plan. planned are the nodes that options name, by the
	// text that distinguishes them, because launches of one pool share most of theirs.
	launches []*launch
	planned  map[string]*snapshot.Node
}

// launch checks one launch with all of its options.
func (c *launchCheck) launch(of *scheduling.Launch) {
	l := &launch{Launch: of, object: launchName(of), pool: c.state.Pools[of.NodePool], pods: c.state.PodsNamed(of.Pods)}
	c.launches = append(c.launches, l)
	c.launchHead(l)
	if l.pool == nil {
		c.report.add(CodePoolUnknown, l.object, "NodePool %q is not in the input", l.NodePool)
		return
	}
	if l.pool.Closed != "" {
		c.report.add(CodePoolClosed, l.object, "NodePool %s %s", l.pool.Object.Name, l.pool.Closed)
	}
	spec := &l.pool.Object.Spec.Template.Spec
	if !sameTaints(l.Taints, spec.Taints) {
		c.report.add(CodeLaunchTaints, l.object, "taints are %s, the NodePool has %s", snapshot.TaintText(l.Taints), snapshot.TaintText(spec.Taints))
	}
	if !sameTaints(l.StartupTaints, spec.StartupTaints) {
		c.report.add(CodeLaunchTaints, l.object, "startup taints are %s, the NodePool has %s", snapshot.TaintText(l.StartupTaints), snapshot.TaintText(spec.StartupTaints))
	}
	c.launchLabels(l)
	c.options(l)
	c.launchRequests(l)
	c.variety(l)
}

// launchHead checks name, pods, options and price.
func (c *launchCheck) launchHead(l *launch) {
	if l.Name == "" {
		c.report.add(CodeLaunchName, l.object, "the name is empty")
	}
	if slices.ContainsFunc(c.launches[:len(c.launches)-1], func(o *launch) bool { return o.Name == l.Name }) {
		c.report.add(CodeLaunchName, l.object, "the name is used by another launch")
	}
	if len(l.Pods) == 0 {
		c.report.add(CodeLaunchEmpty, l.object, "has no pods")
	}
	if len(l.Options) == 0 {
		c.report.add(CodeNoOptions, l.object, "has no options")
	} else if l.Price != l.Options[0].Price {
		c.report.add(CodeLaunchPrice, l.object, "price is $%v, the price of its first option $%v", l.Price, l.Options[0].Price)
	}
}

// sameTaints compares as sets.
func sameTaints(a, b []corev1.Taint) bool {
	set := func(taints []corev1.Taint) map[corev1.Taint]bool {
		out := make(map[corev1.Taint]bool)
		for _, t := range taints {
			out[corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect}] = true
		}
		return out
	}
	return maps.Equal(set(a), set(b))
}

// launchLabels checks that the launch has the pool's labels, a value for every label that the pool requires and
// leaves open, and no other label.
func (c *launchCheck) launchLabels(l *launch) {
	template := l.pool.Object.Spec.Template.Metadata.Labels
	for _, key := range slices.Sorted(maps.Keys(template)) {
		if got, ok := l.Labels[requirements.NormalizeKey(key)]; !ok || got != template[key] {
			c.report.add(CodeLaunchLabels, l.object, "label %s is %q, the NodePool has %q", key, got, template[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(l.Labels)) {
		value := l.Labels[key]
		asks := snapshot.About(key, l.pool.Asks)
		if given, ok := l.pool.Given[key]; ok {
			if value != given {
				c.report.add(CodeLaunchLabels, l.object, "label %s is %q, the NodePool sets %q", key, value, given)
			}
		} else if len(asks) == 0 {
			c.report.add(CodeLaunchLabels, l.object, "label %s is not set by NodePool %s", key, l.pool.Object.Name)
		}
		if !snapshot.AllHold(asks, snapshot.LabelValue{Value: value}) {
			c.report.add(CodeLaunchLabels, l.object, "label %s is %q, which the NodePool's requirements exclude", key, value)
		}
		if messages := validation.IsValidLabelValue(value); len(messages) > 0 {
			c.report.add(CodeLaunchLabels, l.object, "label %s is %q: %s", key, value, strings.Join(messages, "; "))
		}
	}
	for _, e := range l.pool.Asks {
		key := requirements.NormalizeKey(e.Key)
		_, chosen := l.Labels[key]
		if l.pool.Chooses(key) && !chosen && !e.Holds("", false) {
			c.report.add(CodeLaunchLabels, l.object, "label %s has no value, and the NodePool requires one", key)
		}
	}
}

// launchRequests checks that the stated requests are the sum of those of the pods and of the daemons on the first
// option.
func (c *launchCheck) launchRequests(l *launch) {
	first := l.first()
	if first == nil || len(l.pods) != len(l.Pods) {
		return
	}
	want := first.Daemons.Clone()
	for _, t := range l.pods {
		want.Add(t.Requests)
	}
	got := snapshot.RoundedUp(l.Requests)
	for _, name := range snapshot.Names(got, want) {
		if got.Of(name).Cmp(want.Of(name)) != 0 {
			c.report.add(CodeLaunchRequests, l.object, "%s is %v, pods and DaemonSets request %v", name, got.Of(name), want.Of(name))
		}
	}
}

// options resolves and checks every option of a launch.
func (c *launchCheck) options(l *launch) {
	made := snapshot.Choices{Labels: l.Labels, Requirements: snapshot.FromSelectors(l.Requirements)}
	identity := fmt.Sprintf("%s %s %q", l.pool.Object.Name, snapshot.LabelText(l.Labels), made.Requirements)
	var previous *snapshot.Node
	for i := range l.Options {
		o, object := &l.Options[i], fmt.Sprintf("%s/options[%d]", l.object, i)
		if k := slices.IndexFunc(l.Options[:i], func(other scheduling.LaunchOption) bool { return optionKey(&other) == optionKey(o) }); k >= 0 {
			c.report.add(CodeOptionDuplicated, object, "is the same as options[%d]", k)
		}
		n := c.resolve(l, object, o, made, identity)
		l.nodes = append(l.nodes, n)
		if n == nil {
			continue
		}
		c.option(l, object, o, n)
		if previous != nil && c.state.Policy.Ranking.Strategy != offerings.Diversified && c.state.Policy.Ranking.Compare(c.state.Policy.Candidate(previous), c.state.Policy.Candidate(n)) > 0 {
			c.report.add(CodeOptionOrder, object, "is ranked behind an option that is worse")
		}
		previous = n
	}
}

// optionKey returns the key that tells the options of a launch apart.
func optionKey(o *scheduling.LaunchOption) offerings.Key {
	return offerings.Key{InstanceType: o.InstanceType, Zone: o.Zone, CapacityType: o.CapacityType, ReservationID: o.ReservationID}
}

// resolve returns the planned node of an option, nil if the catalog does not have it.
func (c *launchCheck) resolve(l *launch, object string, o *scheduling.LaunchOption, made snapshot.Choices, identity string) *snapshot.Node {
	t, ok := l.pool.Catalog.Get(o.InstanceType)
	if !ok {
		c.report.add(CodeTypeUnknown, object, "instance type %q is not in the catalog of NodePool %s", o.InstanceType, l.pool.Object.Name)
		return nil
	}
	offering, ok := snapshot.FindOffering(t, o.Zone, o.CapacityType, o.ReservationID)
	if !ok {
		c.report.add(CodeOfferingUnknown, object, "%s has no %s offering in zone %q with reservation %q", o.InstanceType, o.CapacityType, o.Zone, o.ReservationID)
		return nil
	}
	key := fmt.Sprintf("%q %s", optionKey(o), identity)
	n := c.planned[key]
	if n == nil {
		n = c.state.NewPlanned(l.pool, t, offering, made, snapshot.DaemonsDecided)
		c.planned[key] = n
	}
	return n
}

// option checks one option: whether it may be bought, and whether it holds the pods.
func (c *launchCheck) option(l *launch, object string, o *scheduling.LaunchOption, n *snapshot.Node) {
	if why := c.state.Unavailable(n.Kind, n.Offering); why != "" {
		c.report.add(CodeOfferingUnavailable, object, "%s in %s %s", o.InstanceType, o.Zone, why)
	}
	if why := c.state.Policy.Excluded(n.Kind, n.Offering); why != "" {
		c.report.add(CodeOptionExcluded, object, "%s in %s %s", o.InstanceType, o.Zone, why)
	}
	if o.Price != n.Offering.Price {
		c.report.add(CodeOptionPrice, object, "price is $%v, in the catalog $%v", o.Price, n.Offering.Price)
	}
	if o.InterruptionRate != n.Offering.InterruptionRate {
		c.report.add(CodeOptionInterruption, object, "interruption rate is %v, in the catalog %v", o.InterruptionRate, n.Offering.InterruptionRate)
	}
	if !slices.Equal(o.Estimated, n.Offering.Estimated) {
		c.report.add(CodeOptionEstimated, object, "estimated fields are %q, in the catalog %q", o.Estimated, n.Offering.Estimated)
	}
	for _, key := range n.Clashes {
		c.report.add(CodePoolRequirements, object, "label %s is %q in the catalog, and the launch or its NodePool has another value", key, n.Labels[key])
	}
	for _, e := range n.Unmet() {
		c.report.add(CodePoolRequirements, object, "NodePool %s requires %s", l.pool.Object.Name, e)
	}
	promised := n.Copied()
	promised.Open = l.promises
	for _, e := range snapshot.FromSelectors(l.Requirements) {
		if _, fixed := promised.Value(e.Key); fixed || promised.Open(requirements.NormalizeKey(e.Key)).Rule == snapshot.Shut {
			if !promised.Meets([]snapshot.Expression{e}) {
				c.report.add(CodeLaunchRequirements, object, "does not meet the requirement %s of the launch", e)
			}
		}
	}
	for _, e := range l.pool.Asks {
		if asks := snapshot.About(e.Key, l.pool.Asks); !promised.Meets(asks) && n.Meets(asks) {
			c.report.add(CodeLaunchRequirements, object, "the launch lacks the NodePool's requirement %s", e)
		}
	}
	place(c.report, object, promised, l.pods)
}
