package schedulingtest

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// cmdNodes replaces the nodes.
//
//	nodes
//	NAME [type=TYPE zone=ZONE capacity-type=CT] [pool=NAME] [RESOURCE=QUANTITY…]
//	    [label=(KEY=VALUE…)] [without=KEY]… [taint=TAINT]… [in-flight] [deleting] [disrupted] [cordoned]
//
// A node of a type has the labels and resources of the type bought there;
// capacity-type is on-demand unless stated. Resources given are allocatable. A node
// with in-flight is on its way: not initialized, and reporting no resources but
// those given.
func cmdNodes(_ context.Context, s *session, args []word, input []string) (string, error) {
	if len(args) > 0 {
		return "", unexpected(args[0])
	}
	var nodes []*corev1.Node
	err := eachLine(input, func(line string) error {
		n, err := s.parseNode(line)
		if err != nil {
			return err
		}
		nodes = append(nodes, n)
		return nil
	})
	if err != nil {
		return "", err
	}
	s.problem.Nodes = nodes
	return count(len(nodes), "node"), nil
}

func (s *session) parseNode(line string) (*corev1.Node, error) {
	words, err := splitWords(line)
	if err != nil {
		return nil, err
	}
	bought := map[string]string{"capacity-type": string(offerings.OnDemand)}
	var opts, last []NodeOption
	var amounts []Amount
	var errs []error
	for _, w := range words[1:] {
		switch w.key {
		case "type", "zone", "capacity-type":
			bought[w.key] = w.value
		case "in-flight":
			last = append(last, InFlight())
		default:
			if _, ok := resourceName(w.key); ok && w.hasValue {
				a, err := parseAmount(w)
				amounts, errs = append(amounts, a), append(errs, err)
				continue
			}
			more, err := parseNodeWord(w)
			opts, errs = append(opts, more...), append(errs, err)
		}
	}
	first, err := s.bought(bought)
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	if len(amounts) > 0 {
		last = append(last, Allocatable(amounts...))
	}
	return Node(words[0].key, append(append(first, opts...), last...)...), nil
}

// bought gives a node what the catalog says about its type.
func (s *session) bought(w map[string]string) ([]NodeOption, error) {
	if w["type"] == "" {
		if w["zone"] == "" {
			return nil, nil
		}
		return []NodeOption{Label(corev1.LabelTopologyZone, w["zone"])}, nil
	}
	if s.problem.Catalog == nil {
		return nil, errors.New("a node of a type needs a catalog")
	}
	t, ok := s.problem.Catalog.Get(w["type"])
	if !ok {
		return nil, fmt.Errorf("type %q is not in the catalog", w["type"])
	}
	for _, o := range t.Offerings {
		if o.Zone == w["zone"] && string(o.CapacityType) == w["capacity-type"] {
			return []NodeOption{OfType(t, o)}, nil
		}
	}
	return nil, fmt.Errorf("type %s is not sold as %s in zone %q", t.Name, w["capacity-type"], w["zone"])
}

func parseNodeWord(w word) ([]NodeOption, error) {
	switch w.key {
	case "pool":
		return []NodeOption{OfPool(w.value)}, nil
	case "without":
		return []NodeOption{Without(expandKey(w.value))}, nil
	case "deleting":
		return []NodeOption{Deleting()}, nil
	case "disrupted":
		return []NodeOption{Disrupted()}, nil
	case "cordoned":
		return []NodeOption{Cordoned()}, nil
	case "taint":
		t, err := parseTaint(w.value)
		return []NodeOption{Taint(t.Key, t.Value, t.Effect)}, err
	case "label":
		words, err := splitWords(w.value)
		var opts []NodeOption
		for _, l := range words {
			opts = append(opts, Label(expandKey(l.key), l.value))
		}
		return opts, err
	}
	return nil, unexpected(w)
}
