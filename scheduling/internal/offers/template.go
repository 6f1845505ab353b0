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

// Template is a NodePool with a value for every label that it leaves open and that pods or daemons ask about. A NodePool
// has one template for each combination of open values, see [Combine].
type Template struct {
	Pool    *scheduling.NodePool
	Number  int // index of the NodePool in [PoolOrder]
	Catalog *instancetypes.Catalog
	Set     requirements.Set
	Labels  map[string]string // labels of nodes, beside those of their offer
	Within  model.Bits        // offers that the NodePool's requirements allow
	Open    map[string]bool   // keys of labels that the NodePool leaves open
	// Selectors are the requirements that all launches of the template share; built at the first use.
	Selectors []requirements.Selector
}

// PoolOrder returns the NodePools that may launch nodes, i.e. not static and not being deleted, by weight from the
// highest, then by name.
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

// PoolSet is all requirements on nodes of a NodePool: its own, its labels, its name and its node class.
func PoolSet(p *scheduling.NodePool) requirements.Set {
	set, err := requirements.FromSelectors(p.Spec.Template.Spec.Requirements)
	if err != nil {
		set = requirements.NewSet(podspec.Impossible(scheduling.NodePoolLabel)) // not reached, because validation refuses the NodePool
	}
	return set.Intersect(requirements.FromLabels(PoolLabels(p)))
}

// PoolLabels are the labels that a NodePool sets on its nodes.
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

// Templates builds the templates of a NodePool. unchecked are the well-known keys that it requires and neither catalog
// nor NodePool defines.
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
			open = append(open, OpenKey{Key: key, Values: asked.OpenValues(r)})
			continue
		}
		if v, ok := r.Any(); ok && !r.AllowsAbsent() {
			labels[key] = v
		}
	}
	// Every cloud sets a region on its nodes. Where neither catalog nor NodePool defines it, pods may require one, and
	// the launch passes it on. Other undefined labels are not assumed, because a node may come without them.
	if key := corev1.LabelTopologyRegion; len(asked.ByKey[key]) > 0 && !set.Has(key) && !t.Defines(key, catalog) {
		open = append(open, OpenKey{Key: key, Values: asked.OpenValues(set.Get(key))})
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

// Admits returns the offers whose nodes, launched by a template, satisfy node constraints and volumes. For a daemon, a
// well-known label that neither template nor catalog defines counts as satisfied, because the provider may set it and
// the daemon would then take room.
func (t *OfferTable) Admits(v *Template, c *podspec.Constraint, daemon bool) model.Bits {
	row := t.AdmitsOwn(v, c, daemon)
	t.NarrowToVolumes(row, v, c)
	return row
}

// AdmitsOwn is [OfferTable.Admits] for node selector and node affinity alone, which nodeAffinityPolicy of a topology
// spread honours.
func (t *OfferTable) AdmitsOwn(v *Template, c *podspec.Constraint, daemon bool) model.Bits {
	row := v.Within.Clone()
	narrow := func(row model.Bits, e *podspec.Expression) {
		if daemon && t.undefined(v, e.Key()) && requirements.WellKnown().Has(e.Key()) {
			return // because the provider may set the label
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

// Matching returns the offers whose nodes, launched by a template, satisfy a term; nil if its fields name an existing
// node.
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

// Label is the value of a label on nodes of the template whose offer does not define it.
func (v *Template) Label(key string) (string, bool) {
	value, ok := v.Labels[key]
	if !ok {
		value, ok = Ready()[key]
	}
	return value, ok
}

// LabelOf is the value of a label on nodes of an offer launched by a template.
func (t *OfferTable) LabelOf(v *Template, offer int, key string) (string, bool) {
	if value, ok := t.Offers[offer].Label(key); ok {
		return value, true
	}
	return v.Label(key)
}

// Satisfying returns the offers whose nodes, launched by a template, satisfy one expression. The caller must not change
// the row.
func (t *OfferTable) Satisfying(v *Template, e *podspec.Expression) model.Bits {
	value, ok := v.Label(e.Key())
	return t.row(e.Requirement, value, ok)
}

// undefined reports whether neither template nor catalog defines a label.
func (t *OfferTable) undefined(v *Template, key string) bool {
	_, own := v.Label(key)
	return !own && !t.Defines(key, v.Catalog)
}

// Untolerated is [podspec.Constraint.Untolerated] for the taints that nodes of the NodePool keep once pods can run on them.
func (v *Template) Untolerated(c *podspec.Constraint) (hard *corev1.Taint, soft bool) {
	return c.Untolerated(v.Pool.Spec.Template.Spec.Taints)
}

// OfferRef is the template and the offer that an option of the engine stands for: the first in rank order among offers
// with the same room and the same admitted pods.
type OfferRef struct {
	Template int
	Offer    int
}

// TemplateOffers are the offers that a template may launch and that admit a group, in rank order.
type TemplateOffers struct {
	Daemons  []model.Bits // by daemon, the offers it runs on
	Rows     []model.Bits // by group, the offers that it may use; nil for none
	Soft     model.Bits   // groups that do not tolerate a PreferNoSchedule taint of the NodePool
	List     []TemplateOffer
	Overfull []TemplateOffer // offers on which daemons alone do not fit: not launched
}

// TemplateOffer is an offer by its index, with the numbers of its room and of the column of groups that it admits.
type TemplateOffer struct {
	Offer  int
	Room   int
	Column int
}

// PoolLimits are the limits of a NodePool, in the order of limited, without use by existing nodes.
func PoolLimits(p *scheduling.NodePool, limited []corev1.ResourceName) []int64 {
	limits := make([]int64, len(limited))
	for d, name := range limited {
		limits[d] = podspec.Amount(name, p.Spec.Limits[name])
	}
	return limits
}

// Daemon is a DaemonSet with the node constraints and requests of its pods.
type Daemon struct {
	Set        *appsv1.DaemonSet
	Constraint *podspec.Constraint
	Requests   []int64
}

// someHost is the host name of a node that is not launched yet: present, but equal to no name that a pod can state.
const someHost = "\x00"

// Ready are the labels that every node of a NodePool has once pods can run on it.
func Ready() map[string]string {
	return map[string]string{scheduling.RegisteredLabel: "true", scheduling.InitializedLabel: "true", corev1.LabelHostname: someHost}
}
