package shadow

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/adapters/controller/state"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Conditions of NodeClaims, as Karpenter names them.
const (
	conditionRegistered = "Registered"
	conditionDisruption = "DisruptionReason" // its reason is why Karpenter disrupts the NodeClaim
)

// claim is a NodeClaim.
type claim struct {
	object *manifest.NodeClaim
	// node is the name of its node, also while it is starting; shown says that the session has a node for it that the
	// API server does not have yet.
	node  string
	shown bool
	// disrupted says that Karpenter has marked it, and that this was seen.
	disrupted bool
}

// is reports whether a condition holds.
func (c *claim) is(condition string) bool { return c.reason(condition) != "" }

// reason is the reason of a condition that holds; "" if it does not.
func (c *claim) reason(condition string) string {
	for i := range c.object.Status.Conditions {
		if x := &c.object.Status.Conditions[i]; x.Type == condition && x.Status == metav1.ConditionTrue {
			return cmp.Or(x.Reason, condition)
		}
	}
	return ""
}

// leaving reports whether it is being deleted.
func (c *claim) leaving() bool { return c.object.DeletionTimestamp != nil }

// nodeOf is the claim's node as plans see it; without a node it is the one that will join.
func (c *claim) nodeOf(node *corev1.Node) (*corev1.Node, error) {
	object := *c.object
	object.APIVersion, object.Kind = "karpenter.sh/v1", "NodeClaim"
	list := []any{&object}
	if node != nil {
		n := *node
		n.APIVersion, n.Kind = "v1", "Node"
		list = append(list, &n)
	}
	var data bytes.Buffer
	for _, o := range list {
		if err := json.NewEncoder(&data).Encode(o); err != nil {
			return nil, fmt.Errorf("NodeClaim %s: %w", c.object.Name, err)
		}
	}
	read, err := manifest.Loader{}.Read("NodeClaim "+c.object.Name, &data)
	if err != nil {
		return nil, err
	}
	if len(read.Problem.Nodes) != 1 {
		return nil, fmt.Errorf("NodeClaim %s: it has %d nodes", c.object.Name, len(read.Problem.Nodes))
	}
	return read.Problem.Nodes[0], nil
}

// causeOf is the cause for a reason of Karpenter's; "" for reasons that have nothing to do with the price, e.g. of a cloud's
// own.
func causeOf(reason string) Cause {
	switch reason {
	case "Underutilized", "Empty":
		return CauseConsolidation
	case "Drifted":
		return CauseDrift
	}
	return ""
}

// readClaims notes the changes of NodeClaims and their nodes, and begins decisions. before is the session without
// the changes.
func (s *Shadow) readClaims(changes []state.Change, before *provisioning.Session) {
	dirty := map[string]bool{}
	for i := range changes {
		switch x := &changes[i]; x.Kind() {
		case "NodeClaim":
			s.readClaim(x)
			dirty[x.Name()] = true
		case "Node":
			if node, ok := x.After.(*corev1.Node); ok && s.claimOf[node.Name] == "" {
				s.join(node)
			}
			dirty[s.claimOf[x.Name()]] = true
		}
	}
	// All NodeClaims are known now, so that it does not matter in which order they came.
	for i := range changes {
		x := &changes[i]
		c := s.claims[x.Name()]
		if x.Kind() != "NodeClaim" || c == nil {
			continue
		}
		reason := c.reason(conditionDisruption)
		created, marked := x.Before == nil, reason != "" && !c.disrupted
		c.disrupted = reason != ""
		pool := c.object.Labels[scheduling.NodePoolLabel]
		if !s.begun || pool == "" || s.settings.static(pool) {
			continue
		}
		switch cause := causeOf(reason); {
		case marked && cause != "":
			d := s.decision(cause, before)
			d.claims[c.object.Name] = false
			n, ok := s.priced(c)
			if d.Karpenter.Removed = append(d.Karpenter.Removed, n); !ok {
				d.unpriced = append(d.unpriced, n.String())
			}
		case created && !c.leaving():
			s.decision(CauseLaunch, before).claims[c.object.Name] = true
			s.ledger.launched(pool)
		}
	}
	delete(dirty, "")
	s.show(sortedKeys(dirty))
}

// readClaim notes a NodeClaim as it is now.
func (s *Shadow) readClaim(x *state.Change) {
	c := s.claims[x.Name()]
	object, ok := x.After.(*manifest.NodeClaim)
	if !ok {
		if c != nil {
			delete(s.claimOf, c.node)
			delete(s.claims, x.Name())
			s.ledger.gone(x.Name())
			s.hide(c)
		}
		return
	}
	if c == nil {
		c = &claim{node: object.Name}
		s.claims[object.Name] = c
	}
	c.object = object
	if c.leaving() {
		s.ledger.gone(object.Name)
	}
	name := object.Status.NodeName
	if name == "" {
		for _, node := range s.state.Nodes() {
			if id := object.Status.ProviderID; id != "" && node.Spec.ProviderID == id {
				name = node.Name
			}
		}
	}
	if name != "" && name != c.node {
		s.rename(c, name)
	}
	s.claimOf[c.node] = object.Name
}

// join notes that a node may be that of a NodeClaim which does not name it yet.
func (s *Shadow) join(node *corev1.Node) {
	for _, c := range s.claims {
		if id := c.object.Status.ProviderID; id != "" && id == node.Spec.ProviderID {
			s.rename(c, node.Name)
			s.claimOf[node.Name] = c.object.Name
		}
	}
}

// rename notes the name of a claim's node.
func (s *Shadow) rename(c *claim, node string) {
	s.hide(c)
	delete(s.claimOf, c.node)
	c.node = node
}

// hide removes the node that the session has for a claim until its node is there.
func (s *Shadow) hide(c *claim) {
	if !c.shown {
		return
	}
	c.shown = false
	if s.state.Nodes()[c.node] != nil {
		return // the API server has a node of that name by now
	}
	if err := s.state.Session().Apply(scheduling.Delta{Removed: scheduling.Removed{Nodes: []string{c.node}}}); err != nil {
		s.opts.Log.Warn("node that is starting", "nodeclaim", c.object.Name, "error", err)
	}
}

// show makes the session have a node for each of the claims: that of the API server with the state of its claim, or one
// that is starting.
func (s *Shadow) show(claims []string) {
	for _, name := range claims {
		c := s.claims[name]
		if c == nil {
			continue
		}
		node := s.state.Nodes()[c.node]
		if node == nil && c.leaving() && !c.shown {
			continue
		}
		seen, err := (*corev1.Node)(nil), error(nil)
		if node != nil {
			seen = s.asPlanned(node)
		} else {
			seen, err = c.nodeOf(nil)
		}
		if err == nil {
			err = s.state.Session().Apply(scheduling.Delta{Nodes: []*corev1.Node{seen}})
		}
		if err != nil {
			s.ledger.reject()
			s.opts.Log.Warn("NodeClaim is left out of plans", "nodeclaim", name, "error", err)
			continue
		}
		c.shown = node == nil
	}
}

// decision is the open decision, to which NodeClaims of this round belong; a new one has the session before them.
func (s *Shadow) decision(cause Cause, before *provisioning.Session) *pendingDecision {
	if s.open == nil {
		s.open = &pendingDecision{Decision: Decision{At: s.now, Cause: cause}, window: &window{before: before}, claims: map[string]bool{}}
		s.pending = append(s.pending, s.open)
	}
	if s.open.Cause == CauseLaunch {
		s.open.Cause = cause
	}
	s.open.last = s.now
	return s.open
}

// nodeClaims are the NodeClaims without those given, by name.
func (s *Shadow) nodeClaims(without map[string]bool) []*manifest.NodeClaim {
	var out []*manifest.NodeClaim
	for name, c := range s.claims {
		if !without[name] {
			out = append(out, c.object)
		}
	}
	slices.SortFunc(out, func(a, b *manifest.NodeClaim) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
