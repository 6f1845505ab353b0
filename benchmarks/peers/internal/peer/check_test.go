package peer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

func TestCheckAccepts(t *testing.T) {
	p := fixture()
	for name, o := range map[string]Outcome{
		"nothing":     {},
		"one machine": {Machines: []Machine{machine(p, p.Pods[0], p.Pods[1])}},
		"two":         {Machines: []Machine{machine(p, p.Pods[0], p.Pods[1]), machine(p, p.Pods[2])}},
	} {
		assert.NoError(t, Check(p, o), name)
	}
}

// A label that the pool leaves open has the value that the planner chose.
func TestCheckOpenLabels(t *testing.T) {
	p := fixture()
	s := &p.NodePools[0].Spec.Template.Spec
	s.Requirements = append(s.Requirements, st.In("example.com/rack", "ssd", "hdd"))
	p.Pods[0].Spec.NodeSelector = map[string]string{"example.com/rack": "ssd"}
	m := machine(p, p.Pods[0])
	m.Labels = map[string]string{"example.com/rack": "ssd", "example.com/other": "x"}
	assert.NoError(t, Check(p, Outcome{Machines: []Machine{m}}))
	m.Labels["example.com/rack"] = "hdd"
	assert.ErrorContains(t, Check(p, Outcome{Machines: []Machine{m}}), "pod default/one: the node's labels do not match")
}

// Every way in which an outcome can be wrong is told, and named.
func TestCheckRejects(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(p *scheduling.Problem, o *Outcome)
		want   string
	}{
		"unknown pool": {func(_ *scheduling.Problem, o *Outcome) { o.Machines[0].NodePool = "other" }, `there is no pool "other"`},
		"unknown type": {func(_ *scheduling.Problem, o *Outcome) { o.Machines[0].InstanceType = "m9" }, "no such type"},
		"not sold there": {func(_ *scheduling.Problem, o *Outcome) {
			o.Machines[0].Offering.Zone = "z3"
		}, "not sold there"},
		"invented price": {func(_ *scheduling.Problem, o *Outcome) { o.Machines[0].Offering.Price = 1 }, "costs 0.1, not"},
		"failed lately": {func(p *scheduling.Problem, _ *Outcome) {
			p.Now = time.Unix(1e9, 0)
			p.Unavailable = &offerings.Unavailable{}
			p.Unavailable.Mark(offerings.Key{InstanceType: "m1", Zone: "z1", CapacityType: offerings.OnDemand}, p.Now, 0)
		}, "cannot be bought now"},
		"not on sale": {func(p *scheduling.Problem, _ *Outcome) {
			m1, _ := p.Catalog.Get("m1")
			m1 = m1.DeepCopy()
			for i := range m1.Offerings {
				m1.Offerings[i].Unavailable = true
			}
			p.PoolCatalogs = map[string]*instancetypes.Catalog{"default": st.MustCatalog(m1)}
		}, "cannot be bought now"},
		"pool forbids the type": {func(p *scheduling.Problem, o *Outcome) {
			o.Machines[0].InstanceType, o.Machines[0].Offering = "a1", sold(p.Catalog, "a1", "z1")
		}, "the pool does not allow it: kubernetes.io/arch"},
		"pool asks for what the type lacks": {func(p *scheduling.Problem, _ *Outcome) {
			s := &p.NodePools[0].Spec.Template.Spec
			s.Requirements = append(s.Requirements, st.Exists("example.com/gpu"))
		}, "the pool does not allow it: example.com/gpu"},
		"nobody sells it": {func(_ *scheduling.Problem, o *Outcome) { o.Impossible = []string{"a claim without offerings"} }, "a claim without offerings"},
		"open label, other value": {func(p *scheduling.Problem, o *Outcome) {
			s := &p.NodePools[0].Spec.Template.Spec
			s.Requirements = append(s.Requirements, st.In("example.com/disk", "ssd", "hdd"))
			o.Machines[0].Labels = map[string]string{"example.com/disk": "tape"}
		}, "the pool does not allow it: example.com/disk"},
		"no pods":         {func(_ *scheduling.Problem, o *Outcome) { o.Machines[0].Pods = nil }, "holds no pod"},
		"pod twice":       {func(p *scheduling.Problem, o *Outcome) { o.Machines = append(o.Machines, machine(*p, p.Pods[0])) }, "pod default/one is placed twice"},
		"pod unknown":     {func(_ *scheduling.Problem, o *Outcome) { o.Machines[0].Pods[0] = st.Pod("stranger") }, "was not pending"},
		"wrong zone":      {func(p *scheduling.Problem, o *Outcome) { o.Machines[0].Offering = sold(p.Catalog, "m1", "z2") }, "pod default/two: the node's labels do not match"},
		"not tolerated":   {func(_ *scheduling.Problem, o *Outcome) { o.Machines[0].Pods[0].Spec.Tolerations = nil }, "does not tolerate team=red:NoSchedule"},
		"too much":        {func(p *scheduling.Problem, o *Outcome) { o.Machines[0].Pods = p.Pods }, "3300m of cpu are requested, 2 are there"},
		"limits count":    {func(p *scheduling.Problem, o *Outcome) { o.Machines[0].Pods = []*corev1.Pod{p.Pods[1], p.Pods[2]} }, "2400m of cpu"},
		"daemons count":   {func(p *scheduling.Problem, _ *Outcome) { daemons(p, st.TolerateAll()) }, "2100m of cpu"},
		"too many pods":   {func(p *scheduling.Problem, o *Outcome) { crowd(p, o) }, "111 of pods"},
		"more than five":  {func(_ *scheduling.Problem, o *Outcome) { o.Machines = make([]Machine, 9) }, "and more"},
		"missing a label": {func(p *scheduling.Problem, _ *Outcome) { p.Pods[0].Spec.NodeSelector = map[string]string{"x": "y"} }, "do not match"},
	} {
		t.Run(name, func(t *testing.T) {
			p := fixture()
			o := Outcome{Machines: []Machine{machine(p, p.Pods[0], p.Pods[1])}}
			require.NoError(t, Check(p, o))
			tc.change(&p, &o)
			assert.ErrorContains(t, Check(p, o), tc.want)
		})
	}
}

// A daemon that does not tolerate the pool's taint does not run there.
func TestCheckLeavesOutDaemonsThatDoNotFit(t *testing.T) {
	p := fixture()
	daemons(&p)
	assert.NoError(t, Check(p, Outcome{Machines: []Machine{machine(p, p.Pods[0], p.Pods[1])}}))
}

func TestOutcome(t *testing.T) {
	p := fixture()
	o := Outcome{Machines: []Machine{machine(p, p.Pods[0], p.Pods[1]), machine(p, p.Pods[2])}}
	assert.Equal(t, st.Cents(20), o.Price())
	assert.Equal(t, 3, o.Placed())
}

func TestAdmitted(t *testing.T) {
	pod := st.Pod("p", st.Requests(st.MilliCPU(100)), st.Limits(st.MilliCPU(500), st.GiB(1)), st.Init())
	pod.Spec.InitContainers[0].Resources.Limits = st.Resources(st.MilliCPU(700))
	before := pod.DeepCopy()
	got := st.Admitted(pod)
	assert.Equal(t, before, pod, "the original stays as it was")
	assert.Equal(t, "100m", got.Spec.Containers[0].Resources.Requests.Cpu().String(), "a request stands")
	assert.Equal(t, "1Gi", got.Spec.Containers[0].Resources.Requests.Memory().String())
	assert.Equal(t, "700m", got.Spec.InitContainers[0].Resources.Requests.Cpu().String())
}

func daemons(p *scheduling.Problem, opts ...st.PodOption) {
	p.DaemonSets = append(p.DaemonSets, st.DaemonSet("agent", append(opts, st.Requests(st.MilliCPU(300)))...))
}

// crowd puts more pods onto the machine than it has slots.
func crowd(p *scheduling.Problem, o *Outcome) {
	p.Pods = st.Pods(111, "tiny", st.TolerateAll())
	o.Machines[0].Pods = p.Pods
}
