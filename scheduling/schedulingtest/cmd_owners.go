package schedulingtest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// cmdNamespaces replaces the namespaces that are known by more than their name.
//
//	namespaces
//	NAME [label=(KEY=VALUE…)]
func cmdNamespaces(_ context.Context, s *session, args []word, input []string) (string, error) {
	var list []*corev1.Namespace
	err := eachNumbered(args, input, func(name string, words []word) error {
		var labels map[string]string
		for _, w := range words {
			if w.key != "label" {
				return unexpected(w)
			}
			selector, err := parseSelector(w.value)
			if err != nil {
				return err
			}
			labels = selector.MatchLabels
		}
		list = append(list, NamespaceObject(name, labels))
		return nil
	})
	if err != nil {
		return "", err
	}
	s.problem.Namespaces = list
	return count(len(list), "namespace"), nil
}

// cmdServices replaces the services.
//
//	services
//	NAME [ns=NS] [of=(KEY=VALUE…)]
//
// A service without of= selects no pods.
func cmdServices(_ context.Context, s *session, args []word, input []string) (string, error) {
	var list []*corev1.Service
	err := eachNumbered(args, input, func(name string, words []word) error {
		namespace, selector, err := parseOwner(words)
		if err != nil {
			return err
		}
		list = append(list, Service(namespace, name, nil))
		if selector != nil {
			list[len(list)-1].Spec.Selector = selector.MatchLabels
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	s.problem.Services = list
	return count(len(list), "service"), nil
}

// cmdOwners replaces the controllers that pods name as their owners.
//
//	owners
//	KIND/NAME [ns=NS] [of=(SELECTOR)]
//
// The kinds are replicaset, statefulset and controller, a ReplicationController.
func cmdOwners(_ context.Context, s *session, args []word, input []string) (string, error) {
	var list scheduling.Owners
	n := 0
	err := eachNumbered(args, input, func(name string, words []word) error {
		kind, name, err := cutOwner(name)
		if err != nil {
			return err
		}
		namespace, selector, err := parseOwner(words)
		if err != nil {
			return err
		}
		n++
		switch kind {
		case "ReplicaSet":
			list.ReplicaSets = append(list.ReplicaSets, ReplicaSet(namespace, name, selector))
		case "StatefulSet":
			list.StatefulSets = append(list.StatefulSets, StatefulSet(namespace, name, selector))
		case "ReplicationController":
			rc := ReplicationController(namespace, name, nil)
			if selector != nil {
				rc.Spec.Selector = selector.MatchLabels
			}
			list.ReplicationControllers = append(list.ReplicationControllers, rc)
		default:
			return fmt.Errorf("kind %q is neither replicaset nor statefulset nor controller", kind)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	s.problem.Owners = list
	return count(n, "owner"), nil
}

// cmdDefaultSpread replaces the constraints of pods that state none of their own.
//
//	default-spread
//	KEY [skew=N] [min=N] [soft] [affinity=POLICY] [taints=POLICY]
func cmdDefaultSpread(_ context.Context, s *session, args []word, input []string) (string, error) {
	if len(args) > 0 {
		return "", unexpected(args[0])
	}
	var list []corev1.TopologySpreadConstraint
	err := eachLine(input, func(line string) error {
		key, opts, err := parseTie("spread", line)
		if err != nil {
			return err
		}
		list = append(list, DefaultSpread(key, opts...))
		return nil
	})
	if err != nil {
		return "", err
	}
	s.problem.DefaultSpread = list
	return count(len(list), "default constraint"), nil
}

// parseOwner reads the words about services and controllers.
func parseOwner(words []word) (namespace string, selector *metav1.LabelSelector, err error) {
	namespace = metav1.NamespaceDefault
	var errs []error
	for _, w := range words {
		switch w.key {
		case "ns":
			namespace = w.value
		case "of":
			selector, err = parseSelector(w.value)
			errs = append(errs, err)
		default:
			errs = append(errs, unexpected(w))
		}
	}
	return namespace, selector, errors.Join(errs...)
}

// cutOwner reads KIND/NAME. Kinds have short names in lower case; others stand for
// themselves.
func cutOwner(text string) (kind, name string, err error) {
	kind, name, ok := strings.Cut(text, "/")
	if !ok {
		return "", "", fmt.Errorf("%q: want KIND/NAME", text)
	}
	if long, ok := ownerKinds()[kind]; ok {
		kind = long
	}
	return kind, name, nil
}

// ownerKinds are short for the kinds of controllers.
func ownerKinds() map[string]string {
	return map[string]string{
		"replicaset": "ReplicaSet", "statefulset": "StatefulSet", "controller": "ReplicationController", "job": "Job",
	}
}
