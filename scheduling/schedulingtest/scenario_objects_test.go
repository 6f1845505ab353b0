package schedulingtest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// built makes an object of options, one a word. A word that is about another kind of object is
// an error.
func built[T any, O Option](build func(string, ...O) T, name string, words []word) (T, error) {
	opts, err := optionsFor[O](build(name), words)
	if err != nil {
		var none T
		return none, err
	}
	return build(name, opts...), nil
}

// optionsFor reads one option of each word, all about the kind of object that scratch is, which
// they may change.
func optionsFor[O Option](scratch any, words []word) ([]O, error) {
	return options(words, func(w word) (O, error) {
		o, err := optionOf(w)
		if err == nil && !suits(o, scratch) {
			err = unexpected(w)
		}
		of, _ := o.(O) // every option has the methods of all kinds, and suits has checked its own
		return of, err
	})
}

// optionOf reads a word about an object of any kind.
func optionOf(w word) (Option, error) {
	if w.hasValue {
		if amounts := amountsOf(w.key); amounts != nil {
			list, err := parseAmounts(w.value)
			return amounts(list...), err
		}
		if _, ok := resourceName(w.key); ok {
			a, err := parseAmount(w)
			return either(Requests(a), Capacity(a)), err
		}
	}
	switch w.key {
	case "where":
		exprs, err := parseExprs(w.value)
		return Where(exprs...), err
	case "label":
		words, err := parsePairs(w.value)
		return labelWord(words), err
	case "taint", "startup":
		key, value, effect, err := parseTaint(w.value)
		if w.key == "startup" {
			return StartupTaint(key, value, effect), err
		}
		return Taint(key, value, effect), err
	case "deleting":
		return Deleting(), nil
	case "ns":
		return either(Namespace(w.value), InNamespaces(strings.Fields(w.value)...)), nil
	case "class":
		return OfClass(w.value), nil
	case "driver":
		return Driver(driverName(w.value)), nil
	case "weight", "priority", "replicas", "skew", "min":
		n, err := strconv.ParseInt(w.value, 10, 32)
		return map[string]Option{
			"weight": Weight(int32(n)), "priority": Priority(int32(n)), "skew": Skew(int32(n)), "min": MinDomains(int32(n)), "replicas": Replicas(n),
		}[w.key], err
	}
	for _, read := range []func(word) (Option, error){podWord, termWord, nodeWord, volumeWord} {
		if o, err := read(w); o != nil || err != nil {
			return o, err
		}
	}
	if strings.Contains(w.key, "@") {
		return offeringWord(w)
	}
	return nil, unexpected(w)
}

// amountsOf is the option for a list of amounts under a key; nil if there is none.
func amountsOf(key string) func(...ResourceAmount) Option {
	switch key {
	case "limits":
		return func(a ...ResourceAmount) Option { return either(Limits(a...), Limit(a...)) }
	case "reserve":
		return func(a ...ResourceAmount) Option { return KubeReserved(a...) }
	}
	ofPod := map[string]func(...ResourceAmount) PodOption{
		"container": sideContainer, "init": Init, "sidecar": Sidecar, "overhead": overhead, "pod-level": podLevel,
	}[key]
	if ofPod == nil {
		return nil
	}
	return func(a ...ResourceAmount) Option { return ofPod(a...) }
}

// labelWord sets labels. The keys of nodes and pools may be short for others.
func labelWord(words []word) option {
	return func(object any) bool {
		about := true
		for _, l := range words {
			key := l.key
			switch object.(type) {
			case *corev1.Node, *scheduling.NodePool:
				key = expandKey(key)
			}
			about = Label(key, l.value).Apply(object) && about
		}
		return about
	}
}

// podWord reads a word about a pod; nothing for another word.
func podWord(w word) (Option, error) {
	switch w.key {
	case "prefer":
		return parsePrefer(w.value)
	case "spread":
		return termOf(w, true, Spread)
	case "near":
		return termOf(w, false, Near)
	case "apart":
		return termOf(w, false, Apart)
	case "claim":
		return on(func(p *corev1.Pod) {
			number := p.Name[strings.LastIndexByte(p.Name, '-')+1:]
			UseClaim(strings.ReplaceAll(w.value, "#", number)).Apply(p)
		}), nil
	case "ephemeral":
		words, err := splitWords(w.value)
		if err != nil {
			return nil, err
		}
		if len(words) == 0 || words[0].hasValue {
			return nil, errors.New("want the ephemeral volume's name")
		}
		opts, err := optionsFor[ClaimOption](Claim("template"), words[1:])
		return Ephemeral(words[0].key, opts...), err
	case "owner":
		kind, name, err := cutOwner(w.value)
		return OwnedBy(kind, name), err
	case "select":
		words, err := parsePairs(w.value)
		return on(func(p *corev1.Pod) {
			for _, l := range words {
				Select(expandKey(l.key), l.value).Apply(p)
			}
		}), err
	case "tolerate":
		return Toleration(parseToleration(w.value)), nil
	case "port":
		return parsePort(w.value)
	case "on":
		return OnNode(w.value), nil
	case "daemon":
		return OwnedByDaemonSet(w.value), nil
	case "done":
		return PodPhase(corev1.PodSucceeded), nil
	}
	return nil, nil
}

// parsePrefer reads requirements that a pod prefers, perhaps with "weight N" as the
// last; the weight is 1 else.
func parsePrefer(text string) (PodOption, error) {
	weight := int64(1)
	if i := strings.LastIndexByte(text, ','); i >= 0 {
		if n, ok := strings.CutPrefix(strings.TrimSpace(text[i+1:]), "weight "); ok {
			var err error
			if weight, err = strconv.ParseInt(n, 10, 32); err != nil {
				return nil, fmt.Errorf("prefer=(%s): %w", text, err)
			}
			text = text[:i]
		}
	}
	exprs, err := parseExprs(text)
	return Prefer(int32(weight), exprs...), err
}

// termOf reads the words in the parentheses of spread=, near= and apart=: a key, and words about the pods that count
// there.
func termOf[O Option](w word, spreads bool, build func(string, ...O) PodOption) (PodOption, error) {
	words, err := splitWords(w.value)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 || words[0].hasValue {
		return nil, fmt.Errorf("%s=(%s): want a key", w.key, w.value)
	}
	opts, err := optionsFor[O](&topologyTerm{spreads: spreads}, words[1:])
	return build(expandKey(words[0].key), opts...), err
}

// termWord reads a word about a topology term; nothing for another word.
func termWord(w word) (Option, error) {
	switch w.key {
	case "soft":
		return Soft(), nil
	case "affinity", "taints":
		policy, ok := map[string]corev1.NodeInclusionPolicy{
			"honor": corev1.NodeInclusionPolicyHonor, "ignore": corev1.NodeInclusionPolicyIgnore,
		}[w.value]
		if !ok {
			return nil, fmt.Errorf("%s: want honor or ignore", w)
		}
		if w.key == "affinity" {
			return affinityPolicy(policy), nil
		}
		return taintsPolicy(policy), nil
	case "ns-of":
		selector, err := parseSelector(w.value)
		return onAffinity(func(t *topologyTerm) { t.everywhere = selector.DeepCopy() }), err
	case "other":
		return Other(expandKey(w.value)), nil
	case "same":
		return Same(expandKey(w.value)), nil
	case "of":
		if w.value == "none" {
			return ofNone(), nil
		}
		selector, err := parseSelector(w.value)
		return on(func(t *topologyTerm) { t.selector, t.chosen = selector.DeepCopy(), true }), err
	}
	return nil, nil
}

// nodeWord reads a word about a node or an instance type; nothing for another word.
func nodeWord(w word) (Option, error) {
	switch w.key {
	case "pool":
		return OfPool(w.value), nil
	case "without":
		return on(func(n *corev1.Node) { delete(n.Labels, expandKey(w.value)) }), nil
	case "disrupted":
		return Disrupted(), nil
	case "cordoned":
		return Cordoned(), nil
	case "arch", "os":
		return on(func(t *instancetypes.InstanceType) { Label(expandKey(w.key), w.value).Apply(t) }), nil
	}
	return nil, nil
}

// offeringWord reads CAPACITY-TYPE@ZONE=PRICE and the suffixes that may follow. A reservation without an id is called
// TYPE-ZONE.
func offeringWord(w word) (TypeOption, error) {
	ct, zone, _ := strings.Cut(w.key, "@")
	o := offerings.Offering{Zone: zone, CapacityType: offerings.CapacityType(ct)}
	text, overrides, err := cutOverrides(w.value)
	o.Capacity, o.Overhead = overrides['+'], overrides['-']
	text, o.Unavailable = strings.CutSuffix(text, "!")
	text, rate, ok := strings.Cut(text, "~")
	if ok && err == nil {
		o.InterruptionRate, err = parsePercent(rate)
	}
	text, o.ReservationID, _ = strings.Cut(text, "#")
	text, left, ok := strings.Cut(text, "x")
	left, use, amounts := strings.Cut(left, "/")
	if ok && err == nil {
		o.ReservationCount, err = strconv.ParseInt(left, 10, 64)
	}
	if amounts && err == nil {
		o.ReservationUse, err = strconv.ParseInt(use, 10, 64)
	}
	if err == nil {
		o.Price, err = offerings.ParsePrice(text)
	}
	if err != nil {
		return nil, fmt.Errorf("offering %s: %w", w, err)
	}
	return on(func(t *instancetypes.InstanceType) {
		own := o.DeepCopy()
		if own.CapacityType == offerings.Reserved && own.ReservationID == "" {
			own.ReservationID = t.Name + "-" + zone
		}
		Offer(own).Apply(t)
	}), nil
}

// cutOverrides cuts the resource lists in parentheses off an offering and returns them
// by the sign in front of them.
func cutOverrides(text string) (string, map[byte]corev1.ResourceList, error) {
	lists := map[byte]corev1.ResourceList{}
	for strings.HasSuffix(text, ")") {
		i := strings.LastIndexByte(text, '(')
		if i < 1 || text[i-1] != '+' && text[i-1] != '-' {
			return "", nil, errors.New("want + or - before a parenthesis")
		}
		list, err := parseList(text[i+1 : len(text)-1])
		if err != nil {
			return "", nil, err
		}
		lists[text[i-1]] = list
		text = text[:i-1]
	}
	return text, lists, nil
}

// volumeWord reads a word about a claim or a storage class; nothing for another word.
func volumeWord(w word) (Option, error) {
	switch w.key {
	case "volume":
		return BoundTo(w.value), nil
	case "half-bound":
		return HalfBoundTo(w.value), nil
	case "mode":
		mode, ok := map[string]corev1.PersistentVolumeAccessMode{
			"rwo": corev1.ReadWriteOnce, "rwx": corev1.ReadWriteMany, "rox": corev1.ReadOnlyMany, "rwop": corev1.ReadWriteOncePod,
		}[w.value]
		if !ok {
			return nil, fmt.Errorf("%s: want rwo, rwx, rox or rwop", w)
		}
		return Access(mode), nil
	case "lost":
		return Lost(), nil
	case "of-pod":
		return OwnedByPod(w.value), nil
	case "immediate":
		return Immediate(), nil
	case "default":
		if !w.hasValue {
			return DefaultClass(0), nil
		}
		minute, err := strconv.Atoi(w.value)
		if err != nil {
			return nil, fmt.Errorf("%s: want a minute", w)
		}
		return DefaultClass(minute), nil
	}
	return nil, nil
}

// driverWord reads how many volumes of a driver a node takes; without a number there is
// no limit.
func driverWord(w word) (ResourceAmount, error) {
	limit := int64(-1)
	if w.hasValue {
		var err error
		if limit, err = strconv.ParseInt(w.value, 10, 32); err != nil {
			return ResourceAmount{}, fmt.Errorf("%s: want a number of volumes", w)
		}
	}
	return Count(corev1.ResourceName(driverName(w.key)), limit), nil
}
