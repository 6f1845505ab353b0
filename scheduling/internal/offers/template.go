package offers

import (
	"cmp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Template is a NodePool with a value chosen for every label that the pool leaves
// open and some pod or daemon asks about. A pool has one template for each
// combination of values that pods can tell apart.
type Template struct {
	Pool    *scheduling.NodePool
	Number  int // of the pool, in the order of poolOrder
	Catalog *instancetypes.Catalog
	Set     requirements.Set
	Labels  map[string]string // what machines carry beside the labels of their offer
	Within  model.Bits        // offers that the pool's requirements allow
	Open    map[string]bool   // labels that the pool leaves open
	// selectors are the requirements that all launches share; built when first needed.
	Selectors []requirements.Selector
}

// PoolOrder returns the pools that may launch machines: not static, not being
// deleted; by weight, highest first, then by name.
func PoolOrder(pools []*scheduling.NodePool) []*scheduling.NodePool {
	var out []*scheduling.NodePool
	for _, p := range pools {
		if p != nil && p.Spec.Replicas == nil && p.DeletionTimestamp == nil {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *scheduling.NodePool) int {
		return cmp.Or(cmp.Compare(b.Weight(), a.Weight()), strings.Compare(a.Name, b.Name))
	})
	return out
}

// PoolSet is everything that holds for the machines of a pool: its requirements,
// its labels, its name and its node class.
func PoolSet(p *scheduling.NodePool) requirements.Set {
	set, err := requirements.FromSelectors(p.Spec.Template.Spec.Requirements)
	if err != nil {
		set = requirements.NewSet(podspec.Impossible(scheduling.NodePoolLabel)) // validation refuses such pools
	}
	return set.Intersect(requirements.FromLabels(PoolLabels(p)))
}

// PoolLabels are the labels that a pool puts on its machines.
func PoolLabels(p *scheduling.NodePool) map[string]string {
	labels := map[string]string{}
	for k, v := range p.Spec.Template.Metadata.Labels {
		labels[requirements.NormalizeKey(k)] = v
	}
	labels[scheduling.NodePoolLabel] = p.Name
	if ref := p.Spec.Template.Spec.NodeClassRef; ref != nil && ref.Group != "" && ref.Kind != "" && ref.Name != "" {
		labels[ref.Group+"/"+strings.ToLower(ref.Kind)] = ref.Name
	}
	return labels
}

// Templates builds the templates of a pool. asked are the expressions of pods and
// of daemons, by key.
func (t *OfferTable) Templates(p *scheduling.NodePool, number int, catalog *instancetypes.Catalog, asked *Questions) (out []*Template, unchecked []string) {
	set := PoolSet(p)
	labels := PoolLabels(p)
	within := model.NewBits(len(t.Offers))
	if span, ok := t.Spans[catalog]; ok {
		for i := span[0]; i < span[1]; i++ {
			within.Set(i)
		}
	}
	var open []OpenKey
	for r := range set.All() {
		key := r.Key()
		value, labelled := labels[key]
		if t.Defines(key, catalog) {
			within.And(t.row(r, value, labelled))
			continue
		}
		if requirements.WellKnown().Has(key) && !labelled && !r.AllowsAbsent() {
			unchecked = append(unchecked, key)
		}
		if labelled {
			if !r.Has(value) {
				within = model.NewBits(len(t.Offers))
			}
			continue
		}
		if asked.has(key) {
			open = append(open, OpenKey{Key: key, Atoms: asked.Atoms(r)})
			continue
		}
		if v, ok := r.Any(); ok && !r.AllowsAbsent() {
			labels[key] = v
		}
	}
	// Every cloud puts a region on its nodes. Where neither catalog nor pool says
	// which, pods may ask for one, and the launch passes the wish on. Other labels
	// that nobody defines are not assumed: a machine may turn out not to have them.
	if key := corev1.LabelTopologyRegion; len(asked.ByKey[key]) > 0 && !set.Has(key) && !t.Defines(key, catalog) {
		open = append(open, OpenKey{Key: key, Atoms: asked.Atoms(set.Get(key))})
	}
	for _, choice := range Combine(open, asked) {
		v := &Template{Pool: p, Number: number, Catalog: catalog, Set: set, Labels: map[string]string{}, Within: within, Open: map[string]bool{}}
		for k, value := range labels {
			v.Labels[k] = value
		}
		for i, a := range choice {
			v.Open[open[i].Key] = true
			if !a.Absent {
				v.Labels[open[i].Key] = a.Value
			}
		}
		out = append(out, v)
	}
	return out, unchecked
}

// Admits returns the offers whose machines, bought for this template, satisfy what a
// constraint asks of a node. A daemon is admitted, for it takes room, where
// a label that the provider may set, and nobody defines, would have to suit it.
func (t *OfferTable) Admits(v *Template, c *podspec.Constraint, daemon bool) model.Bits {
	row := t.AdmitsOwn(v, c, daemon)
	t.NarrowToVolumes(row, v, c)
	return row
}

// AdmitsOwn is admits for selector and affinity alone, which is what topology spread
// looks at.
func (t *OfferTable) AdmitsOwn(v *Template, c *podspec.Constraint, daemon bool) model.Bits {
	row := v.Within.Clone()
	narrow := func(row model.Bits, e *podspec.Expression) {
		if daemon && t.undefined(v, e.Key()) && requirements.WellKnown().Has(e.Key()) {
			return // the provider may set the label: a daemon is counted where it may run
		}
		row.And(t.Satisfying(v, e))
	}
	for i := range c.Selector {
		narrow(row, &c.Selector[i])
	}
	if !c.Affine {
		return row
	}
	matched := model.NewBits(len(t.Offers))
	for i := range c.Terms {
		if !c.Terms[i].FieldsAllowNew() {
			continue
		}
		alternative := row.Clone()
		for j := range c.Terms[i].Labels {
			narrow(alternative, &c.Terms[i].Labels[j])
		}
		matched.Or(alternative)
	}
	return matched
}

// Matching returns the offers whose machines, bought for a template, satisfy a term,
// or nil where no new machine can.
func (t *OfferTable) Matching(v *Template, x *podspec.Term) model.Bits {
	if !x.FieldsAllowNew() {
		return nil
	}
	row := v.Within.Clone()
	for i := range x.Labels {
		row.And(t.Satisfying(v, &x.Labels[i]))
	}
	return row
}

// Label is the value of a label on machines of the template that their offer does not bring.
func (v *Template) Label(key string) (string, bool) {
	value, ok := v.Labels[key]
	if !ok {
		value, ok = Ready()[key]
	}
	return value, ok
}

// LabelOf is the value of a label on machines bought at an offer for a template.
func (t *OfferTable) LabelOf(v *Template, offer int, key string) (string, bool) {
	if value, ok := t.Offers[offer].Label(key); ok {
		return value, true
	}
	return v.Label(key)
}

// Satisfying returns the offers whose machines, bought for a template, satisfy one
// expression.
func (t *OfferTable) Satisfying(v *Template, e *podspec.Expression) model.Bits {
	value, ok := v.Label(e.Key())
	return t.row(e.Requirement, value, ok)
}

// undefined reports whether neither template nor catalog says anything of a label.
func (t *OfferTable) undefined(v *Template, key string) bool {
	_, own := v.Label(key)
	return !own && !t.Defines(key, v.Catalog)
}

// HardTaint returns the pool's first taint that the constraint does not tolerate.
func (v *Template) HardTaint(c *podspec.Constraint) (*corev1.Taint, bool) {
	return podspec.Untolerated(c.Tolerations, v.Pool.Spec.Template.Spec.Taints)
}

// Purchase is what an engine option stands for: the best offer of a template among
// those that have the same room and admit the same pods.
type Purchase struct {
	Template int
	Offer    int
}

// TemplateOffers are the offers that may be bought for a template and that some pod
// could use, in rank order.
type TemplateOffers struct {
	Daemons  []model.Bits // by daemon, the offers it runs on
	Rows     []model.Bits // by group, the offers that it may use; nil for none
	Soft     model.Bits   // groups that would rather avoid the pool's taints
	List     []TemplateOffer
	Overfull []TemplateOffer // offers that daemons alone would overfill: never bought
}

// TemplateOffer is one of them: what room it has and whom it admits.
type TemplateOffer struct {
	Offer  int
	Room   int
	Column int
}

// PoolLimits are the limits of a pool, nothing taken.
func PoolLimits(p *scheduling.NodePool, limited []corev1.ResourceName) []int64 {
	limits := make([]int64, len(limited))
	for d, name := range limited {
		limits[d] = podspec.Amount(name, p.Spec.Limits[name])
	}
	return limits
}

// Daemon is a DaemonSet as far as nodes are concerned: which it runs on and what it
// takes there.
type Daemon struct {
	Set        *appsv1.DaemonSet
	Constraint *podspec.Constraint
	Requests   []int64
}

// someHost stands for the host name of a machine that does not exist yet: there will
// be one, and nobody can name it.
const someHost = "\x00"

// Ready are labels that every node of a pool has by the time pods can run there.
func Ready() map[string]string {
	return map[string]string{scheduling.RegisteredLabel: "true", scheduling.InitializedLabel: "true", corev1.LabelHostname: someHost}
}
