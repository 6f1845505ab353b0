package schedulingtest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Short names for the objects of which lists are read.
type (
	daemonSet    = appsv1.DaemonSet
	storageClass = storagev1.StorageClass
	csiNode      = storagev1.CSINode
	nodePool     = scheduling.NodePool
	instanceType = instancetypes.InstanceType
)

// podWord reads a word about a pod.
func podWord(w word) (PodOption, error) {
	lists := map[string]func(...Amount) PodOption{
		"limits": Limits, "container": sideContainer, "init": Init, "sidecar": Sidecar, "overhead": overhead, "pod-level": podLevel,
	}
	if list, ok := lists[w.key]; ok {
		amounts, err := parseAmounts(w.value)
		return list(amounts...), err
	}
	if _, ok := resourceName(w.key); ok && w.hasValue {
		a, err := parseAmount(w)
		return Requests(a), err
	}
	switch w.key {
	case "where":
		exprs, err := parseExprs(w.value)
		return Where(exprs...), err
	case "prefer":
		return parsePrefer(w.value)
	case "spread":
		return termOf(w, Spread, spreadWord)
	case "near":
		return termOf(w, Near, affinityWord)
	case "apart":
		return termOf(w, Apart, affinityWord)
	case "claim":
		return podFunc(func(p *corev1.Pod) {
			number := p.Name[strings.LastIndexByte(p.Name, '-')+1:]
			UseClaim(strings.ReplaceAll(w.value, "#", number)).applyPod(p)
		}), nil
	case "ephemeral":
		words, err := splitWords(w.value)
		if err != nil {
			return nil, err
		}
		if len(words) == 0 || words[0].hasValue {
			return nil, errors.New("want the ephemeral volume's name")
		}
		opts, err := options(words[1:], claimWord)
		return Ephemeral(words[0].key, opts...), err
	case "owner":
		kind, name, err := cutOwner(w.value)
		return OwnedBy(kind, name), err
	case "select", "label":
		words, err := parsePairs(w.value)
		return podFunc(func(p *corev1.Pod) {
			for _, l := range words {
				if w.key == "select" {
					Select(expandKey(l.key), l.value).applyPod(p)
				} else {
					Label(l.key, l.value).applyPod(p)
				}
			}
		}), err
	case "tolerate":
		return Toleration(parseToleration(w.value)), nil
	case "port":
		return parsePort(w.value)
	case "priority":
		n, err := strconv.ParseInt(w.value, 10, 32)
		return Priority(int32(n)), err
	case "ns":
		return Namespace(w.value), nil
	case "on":
		return OnNode(w.value), nil
	case "daemon":
		return OwnedByDaemonSet(w.value), nil
	case "done":
		return Phase(corev1.PodSucceeded), nil
	case "deleting":
		return Deleting(), nil
	}
	return nil, unexpected(w)
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

// termOf reads what stands in the parentheses of spread=, near= and apart=: a key, and
// words about which pods there.
func termOf(w word, build func(string, ...TermOption) PodOption, read func(word) (TermOption, error)) (PodOption, error) {
	words, err := splitWords(w.value)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 || words[0].hasValue {
		return nil, fmt.Errorf("%s=(%s): want a key", w.key, w.value)
	}
	opts, err := options(words[1:], read)
	return build(expandKey(words[0].key), opts...), err
}

// spreadWord reads a word about a topology spread constraint.
func spreadWord(w word) (TermOption, error) {
	switch w.key {
	case "skew", "min":
		n, err := strconv.ParseInt(w.value, 10, 32)
		if w.key == "min" {
			return MinDomains(int32(n)), err
		}
		return Skew(int32(n)), err
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
	}
	return termWord(w)
}

// affinityWord reads a word about a term of pod affinity or anti-affinity.
func affinityWord(w word) (TermOption, error) {
	switch w.key {
	case "weight":
		n, err := strconv.ParseInt(w.value, 10, 32)
		return Weight(int32(n)), err
	case "ns":
		return InNamespaces(strings.Fields(w.value)...), nil
	case "ns-of":
		selector, err := parseSelector(w.value)
		return termFunc(func(t *topologyTerm) { t.everywhere = selector.DeepCopy() }), err
	case "other":
		return Other(expandKey(w.value)), nil
	}
	return termWord(w)
}

// termWord reads a word that all three kinds of terms have.
func termWord(w word) (TermOption, error) {
	switch {
	case w.key == "of" && w.value == "none":
		return ofNone(), nil
	case w.key == "of":
		selector, err := parseSelector(w.value)
		return termFunc(func(t *topologyTerm) { t.selector, t.chosen = selector.DeepCopy(), true }), err
	case w.key == "same":
		return Same(expandKey(w.value)), nil
	}
	return nil, unexpected(w)
}

// nodeWord reads a word about a node.
func nodeWord(w word) (NodeOption, error) {
	switch w.key {
	case "pool":
		return OfPool(w.value), nil
	case "without":
		return withoutLabel(expandKey(w.value)), nil
	case "deleting":
		return Deleting(), nil
	case "disrupted":
		return Disrupted(), nil
	case "cordoned":
		return Cordoned(), nil
	case "taint":
		return parseTaint(w.value)
	case "label":
		words, err := splitWords(w.value)
		return nodeFunc(func(n *corev1.Node) {
			for _, l := range words {
				Label(expandKey(l.key), l.value).applyNode(n)
			}
		}), err
	}
	return nil, unexpected(w)
}

// poolWord reads a word about a NodePool.
func poolWord(w word) (NodePoolOption, error) {
	switch w.key {
	case "weight":
		n, err := strconv.ParseInt(w.value, 10, 32)
		return Weight(int32(n)), err
	case "replicas":
		n, err := strconv.ParseInt(w.value, 10, 64)
		return Replicas(n), err
	case "limits":
		amounts, err := parseAmounts(w.value)
		return Limit(amounts...), err
	case "where":
		exprs, err := parseExprs(w.value)
		return Where(exprs...), err
	case "taint", "startup":
		t, err := parseTaint(w.value)
		t.startup = w.key == "startup"
		return t, err
	case "label":
		words, err := splitWords(w.value)
		return poolFunc(func(p *nodePool) {
			for _, l := range words {
				Label(expandKey(l.key), l.value).applyNodePool(p)
			}
		}), err
	}
	return nil, unexpected(w)
}

// typeWord reads a word about an instance type.
func typeWord(name string, w word) (TypeOption, error) {
	switch {
	case strings.Contains(w.key, "@"):
		o, err := parseOffering(name, w)
		return Offer(o), err
	case w.key == "arch" || w.key == "os":
		return Label(expandKey(w.key), w.value), nil
	case w.key == "label":
		words, err := splitWords(w.value)
		return typeFunc(func(t *instanceType) {
			for _, l := range words {
				Label(l.key, l.value).applyType(t)
			}
		}), err
	case w.key == "reserve":
		amounts, err := parseAmounts(w.value)
		return KubeReserved(amounts...), err
	}
	a, err := parseAmount(w)
	return Capacity(a), err
}

// parseOffering reads CAPACITY-TYPE@ZONE=PRICE and what may follow. A reservation without
// an id is called TYPE-ZONE.
func parseOffering(typeName string, w word) (offerings.Offering, error) {
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
	if ok && err == nil {
		o.ReservationCount, err = strconv.Atoi(left)
	}
	if o.CapacityType == offerings.Reserved && o.ReservationID == "" {
		o.ReservationID = typeName + "-" + zone
	}
	if err == nil {
		o.Price, err = offerings.ParsePrice(text)
	}
	if err != nil {
		err = fmt.Errorf("offering %s: %w", w, err)
	}
	return o, err
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

// claimWord reads a word about a claim.
func claimWord(w word) (ClaimOption, error) {
	switch w.key {
	case "ns":
		return Namespace(w.value), nil
	case "class":
		return OfClass(w.value), nil
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
	case "deleting":
		return Deleting(), nil
	}
	return nil, unexpected(w)
}

// volumeWord reads a word about a volume.
func volumeWord(w word) (VolumeOption, error) {
	switch w.key {
	case "where":
		exprs, err := parseExprs(w.value)
		return Where(exprs...), err
	case "driver":
		return Driver(driverName(w.value)), nil
	case "class":
		return OfClass(w.value), nil
	case "deleting":
		return Deleting(), nil
	}
	return nil, unexpected(w)
}

// classWord reads a word about a storage class.
func classWord(w word) (ClassOption, error) {
	switch w.key {
	case "where":
		exprs, err := parseExprs(w.value)
		return Where(exprs...), err
	case "driver":
		return Driver(driverName(w.value)), nil
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
	return nil, unexpected(w)
}

// driverWord reads how many volumes of a driver a node takes; without a number there is
// no limit.
func driverWord(w word) (Amount, error) {
	limit := int64(-1)
	if w.hasValue {
		var err error
		if limit, err = strconv.ParseInt(w.value, 10, 32); err != nil {
			return Amount{}, fmt.Errorf("%s: want a number of volumes", w)
		}
	}
	return Count(corev1.ResourceName(driverName(w.key)), limit), nil
}
