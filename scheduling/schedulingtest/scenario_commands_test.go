package schedulingtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// session is the state that the commands of one scenario file share.
type session struct {
	problem scheduling.Problem
	// groups names the line of the scenario that each pod, as namespace/name,
	// comes from.
	groups map[string]string
	solver scheduling.Policy
	plan   *scheduling.Plan
	// broken collects promises that solves did not keep.
	broken []error
}

func newSession() *session {
	return &session{
		problem: scheduling.Problem{Now: time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)},
		groups:  map[string]string{},
	}
}

// command carries out one command with the words beside its name and its input lines. Its output is compared with the
// file.
type command func(ctx context.Context, s *session, args []word, input []string) (string, error)

// commands are the commands by name; the package comment describes them.
func commands() map[string]command {
	type problem = scheduling.Problem
	return map[string]command{
		"catalog":     catalogCommand,
		"pool":        poolCommand,
		"pods":        podsCommand,
		"running":     podsCommand,
		"unavailable": unavailableCommand,
		"owners":      ownersCommand,
		"solve":       solveCommand,
		"verify":      verifyCommand,
		"nodes":       listCommand("node", func(p *problem) *[]*corev1.Node { return &p.Nodes }, (*session).node),
		"daemonset":   listCommand("daemonset", func(p *problem) *[]*appsv1.DaemonSet { return &p.DaemonSets }, daemonSetLine),
		"claims":      listCommand("claim", func(p *problem) *[]*corev1.PersistentVolumeClaim { return &p.Claims }, reader(Claim)),
		"volumes":     listCommand("volume", func(p *problem) *[]*corev1.PersistentVolume { return &p.Volumes }, reader(Volume)),
		"classes":     listCommand("class", func(p *problem) *[]*storagev1.StorageClass { return &p.StorageClasses }, reader(StorageClass)),
		"csi-nodes":   listCommand("CSI node", func(p *problem) *[]*storagev1.CSINode { return &p.CSINodes }, csiNodeLine),
		"namespaces":  listCommand("namespace", func(p *problem) *[]*corev1.Namespace { return &p.Namespaces }, namespaceLine),
		"services":    listCommand("service", func(p *problem) *[]*corev1.Service { return &p.Services }, serviceLine),
		"default-spread": listCommand("default constraint", func(p *problem) *[]corev1.TopologySpreadConstraint { return &p.DefaultSpread },
			func(_ *session, key string, words []word) (corev1.TopologySpreadConstraint, error) {
				opts, err := optionsFor[SpreadOption](&topologyTerm{spreads: true}, words)
				return DefaultSpread(expandKey(key), opts...), err
			}),
	}
}

// run runs the block and returns its output; an error is printed, too.
func (s *session) run(ctx context.Context, b *block) string {
	words, err := splitWords(b.lines[0])
	if err != nil {
		return printError(err)
	}
	run, ok := commands()[words[0].key]
	if !ok {
		return printError(fmt.Errorf("unknown command %q", words[0]))
	}
	out, err := run(ctx, s, words, b.lines[1:])
	if err != nil {
		return printError(err)
	}
	return strings.TrimRight(out, "\n")
}

// printError is the form in which a scenario shows an error: without blank lines,
// which would end the block.
func printError(err error) string {
	var lines []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, "error: "+line)
		}
	}
	return strings.Join(lines, "\n")
}

// listCommand replaces a list of the problem: one object, or several numbered ones, a line.
func listCommand[T any](noun string, list func(*scheduling.Problem) *[]T, read func(s *session, name string, words []word) (T, error)) command {
	return func(_ context.Context, s *session, args []word, input []string) (string, error) {
		var all []T
		err := eachObject(args, input, func(_, name string, words []word) error {
			o, err := read(s, name, words)
			all = append(all, o)
			return err
		})
		if err != nil {
			return "", err
		}
		*list(&s.problem) = all
		return count(len(all), noun), nil
	}
}

// reader reads an object that a builder makes of options, one a word.
func reader[T any, O Option](build func(string, ...O) T) func(*session, string, []word) (T, error) {
	return func(_ *session, name string, words []word) (T, error) { return built(build, name, words) }
}

func daemonSetLine(_ *session, name string, words []word) (*appsv1.DaemonSet, error) {
	opts, err := optionsFor[PodOption](Pod(name), words)
	return DaemonSet(name, opts...), err
}

func csiNodeLine(_ *session, name string, words []word) (*storagev1.CSINode, error) {
	drivers, err := options(words, driverWord)
	return CSINode(name, drivers...), err
}

// eachObject reads lines [N x] NAME WORD… and calls f for each of the N names, numbered as
// by [Pods], with the name of them all. In the words' values, # stands for the number.
func eachObject(args []word, input []string, f func(group, name string, words []word) error) error {
	if len(args) > 1 {
		return unexpected(args[1])
	}
	return eachLine(input, func(line string) error {
		words, err := splitWords(line)
		if err != nil {
			return err
		}
		n := 0
		if len(words) >= 3 && words[1] == (word{key: "x"}) {
			if n, err = strconv.Atoi(words[0].key); err != nil || n < 1 {
				return fmt.Errorf("%q: want a number", words[0])
			}
			words = words[2:]
		}
		if len(words) == 0 || words[0].hasValue {
			return errors.New("want a name")
		}
		group := words[0].key
		if n <= 1 {
			return f(group, group, words[1:])
		}
		for i := range n {
			number := strconv.Itoa(i + 1)
			own := slices.Clone(words[1:])
			for k := range own {
				own[k].value = strings.ReplaceAll(own[k].value, "#", number)
			}
			if err := f(group, group+"-"+number, own); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachLine runs f for every line and names the lines that fail.
func eachLine(input []string, f func(line string) error) error {
	var errs []error
	for _, line := range input {
		if err := f(line); err != nil {
			name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// count is "1 pod", "2 pods".
func count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "s"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func catalogCommand(_ context.Context, s *session, args []word, input []string) (string, error) {
	pool := ""
	for _, w := range args[1:] {
		if w.key != "pool" {
			return "", unexpected(w)
		}
		pool = w.value
	}
	var types []*instancetypes.InstanceType
	offers := 0
	err := eachObject(nil, input, func(_, name string, words []word) error {
		t, err := built(Type, name, words)
		if err != nil {
			return err
		}
		types = append(types, t)
		offers += len(t.Offerings)
		return nil
	})
	if err != nil {
		return "", err
	}
	catalog, err := instancetypes.NewCatalog(types...)
	if err != nil {
		return "", err
	}
	if pool == "" {
		s.problem.Catalog = catalog
	} else {
		if s.problem.PoolCatalogs == nil {
			s.problem.PoolCatalogs = map[string]*instancetypes.Catalog{}
		}
		s.problem.PoolCatalogs[pool] = catalog
	}
	return count(len(types), "type") + ", " + count(offers, "offering"), nil
}

func poolCommand(_ context.Context, s *session, args []word, input []string) (string, error) {
	more, err := splitWords(strings.Join(input, " "))
	if err != nil {
		return "", err
	}
	if len(args) < 2 || args[1].hasValue {
		return "", errors.New("want the pool's name")
	}
	name, words := args[1].key, slices.Concat(args[2:], more)
	s.problem.NodePools = slices.DeleteFunc(s.problem.NodePools, func(p *scheduling.NodePool) bool { return p.Name == name })
	if len(words) != 1 || words[0].key != "none" {
		pool, err := built(NodePool, name, words)
		if err != nil {
			return "", err
		}
		s.problem.NodePools = append(s.problem.NodePools, pool)
	}
	return count(len(s.problem.NodePools), "pool"), nil
}

// podsCommand replaces the pending or the running pods, and remembers which line each
// comes from.
func podsCommand(_ context.Context, s *session, args []word, input []string) (string, error) {
	var pods []*corev1.Pod
	running := args[0].key == "running"
	err := eachObject(args, input, func(group, name string, words []word) error {
		p, err := built(Pod, name, words)
		if err != nil {
			return err
		}
		if running && p.Spec.NodeName == "" {
			return errors.New("want on=NODE")
		}
		if p.Namespace != corev1.NamespaceDefault {
			group = p.Namespace + "/" + group
		}
		s.groups[p.Namespace+"/"+p.Name] = group
		pods = append(pods, p)
		return nil
	})
	if err != nil {
		return "", err
	}
	if running {
		s.problem.Running = pods
		return count(len(pods), "running pod"), nil
	}
	s.problem.Pods = pods
	return count(len(pods), "pod"), nil
}

func unavailableCommand(_ context.Context, s *session, args []word, input []string) (string, error) {
	if len(args) > 1 {
		return "", unexpected(args[1])
	}
	u := &offerings.Unavailable{}
	err := eachLine(input, func(line string) error {
		f := strings.Fields(line)
		if len(f) != 3 {
			return errors.New("want TYPE ZONE CAPACITY-TYPE")
		}
		for i := range f {
			f[i] = strings.TrimSuffix(f[i], "*")
		}
		ct, err := offerings.ParseCapacityType(f[2])
		u.Mark(offerings.Key{InstanceType: f[0], Zone: f[1], CapacityType: ct}, s.problem.Now, 0)
		return err
	})
	if err != nil {
		return "", err
	}
	s.problem.Unavailable = u
	return count(len(input), "failed offering"), nil
}

func ownersCommand(_ context.Context, s *session, args []word, input []string) (string, error) {
	var list scheduling.Owners
	n := 0
	err := eachObject(args, input, func(_, text string, words []word) error {
		kind, name, err := cutOwner(text)
		if err != nil {
			return err
		}
		namespace, selector, err := selectorWords(words)
		if err != nil {
			return err
		}
		n++
		switch kind {
		case "ReplicaSet":
			list.ReplicaSets = append(list.ReplicaSets, replicaSet(namespace, name, selector))
		case "StatefulSet":
			list.StatefulSets = append(list.StatefulSets, statefulSet(namespace, name, selector))
		case "ReplicationController":
			list.ReplicationControllers = append(list.ReplicationControllers, replicationController(namespace, name, matchLabels(selector)))
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

func namespaceLine(_ *session, name string, words []word) (*corev1.Namespace, error) {
	var labels map[string]string
	for _, w := range words {
		if w.key != "label" {
			return nil, unexpected(w)
		}
		selector, err := parseSelector(w.value)
		if err != nil {
			return nil, err
		}
		labels = selector.MatchLabels
	}
	return NamespaceObject(name, labels), nil
}

func serviceLine(_ *session, name string, words []word) (*corev1.Service, error) {
	namespace, selector, err := selectorWords(words)
	return Service(namespace, name, matchLabels(selector)), err
}

// node reads a node. A node with a type has the labels and resources of the type; a node in flight reports no resources
// but those given.
func (s *session) node(name string, words []word) (*corev1.Node, error) {
	bought := map[string]string{"capacity-type": string(offerings.OnDemand)}
	var last []NodeOption
	var amounts []ResourceAmount
	var errs []error
	var others []word
	for _, w := range words {
		switch _, resource := resourceName(w.key); {
		case w.key == "type" || w.key == "zone" || w.key == "capacity-type":
			bought[w.key] = w.value
		case w.key == "in-flight":
			last = append(last, InFlight())
		case resource && w.hasValue:
			a, err := parseAmount(w)
			amounts, errs = append(amounts, a), append(errs, err)
		default:
			others = append(others, w)
		}
	}
	first, err := s.bought(bought)
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	if len(amounts) > 0 {
		last = append(last, Allocatable(amounts...))
	}
	return built(func(name string, opts ...NodeOption) *corev1.Node {
		return Node(name, slices.Concat(first, opts, last)...)
	}, name, others)
}

// bought gives a node the labels and resources of its type in the catalog.
func (s *session) bought(w map[string]string) ([]NodeOption, error) {
	switch {
	case w["type"] == "" && w["zone"] == "":
		return nil, nil
	case w["type"] == "":
		return []NodeOption{Label(corev1.LabelTopologyZone, w["zone"])}, nil
	case s.problem.Catalog == nil:
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
