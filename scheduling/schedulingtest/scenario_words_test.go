package schedulingtest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// word is one word of a line: a key, or a key and a value.
type word struct {
	key, value string
	hasValue   bool
}

func (w word) String() string {
	if !w.hasValue {
		return w.key
	}
	return w.key + "=" + w.value
}

// unexpected is the error about a word that a command does not know.
func unexpected(w word) error { return fmt.Errorf("unexpected word %q", w) }

// options reads one option of each word; none where some word has an error.
func options[O any](words []word, read func(word) (O, error)) ([]O, error) {
	var opts []O
	var errs []error
	for _, w := range words {
		o, err := read(w)
		opts, errs = append(opts, o), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return opts, nil
}

// splitWords splits a line at white space outside parentheses. The parentheses
// around a whole value fall away.
func splitWords(line string) ([]word, error) {
	var words []word
	for _, text := range splitOutside(line) {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		w := word{key: text}
		if key, value, ok := strings.Cut(text, "="); ok && !strings.Contains(key, "(") {
			w = word{key: key, value: value, hasValue: true}
			if inner, ok := strings.CutPrefix(value, "("); ok {
				if inner, ok = strings.CutSuffix(inner, ")"); !ok {
					return nil, fmt.Errorf("%s: the parenthesis is not closed", text)
				}
				w.value = inner
			}
		}
		words = append(words, w)
	}
	return words, nil
}

// splitOutside splits text at spaces and tabs outside parentheses.
func splitOutside(text string) []string {
	depth := 0
	return strings.FieldsFunc(text, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return depth <= 0 && (r == ' ' || r == '\t')
	})
}

// resourceName is the resource that a word of a scenario names; ok is false when
// the word names none. The short names are cpu, memory, pods, nodes, disk
// (ephemeral-storage) and gpu (nvidia.com/gpu); every name with a slash, huge pages and
// attachable volumes stand for themselves.
func resourceName(key string) (name corev1.ResourceName, ok bool) {
	switch key {
	case "cpu", "memory", "pods", "nodes":
		return corev1.ResourceName(key), true
	case "disk":
		return corev1.ResourceEphemeralStorage, true
	case "gpu":
		return gpuResource, true
	}
	known := strings.Contains(key, "/") || strings.HasPrefix(key, "hugepages-") || strings.HasPrefix(key, "attachable-volumes-")
	return corev1.ResourceName(key), known
}

// parseAmount reads a resource word such as cpu=500m.
func parseAmount(w word) (ResourceAmount, error) {
	name, ok := resourceName(w.key)
	if !ok {
		return ResourceAmount{}, unexpected(w)
	}
	q, err := resource.ParseQuantity(w.value)
	if err != nil {
		return ResourceAmount{}, fmt.Errorf("%s: %w", w, err)
	}
	return ResourceAmount{name, q}, nil
}

// parseAmounts reads resource words such as "cpu=500m memory=1Gi".
func parseAmounts(text string) ([]ResourceAmount, error) {
	words, err := splitWords(text)
	if err != nil {
		return nil, err
	}
	return options(words, parseAmount)
}

// parsePairs reads KEY=VALUE words.
func parsePairs(text string) ([]word, error) {
	words, err := splitWords(text)
	for _, w := range words {
		if !w.hasValue {
			return nil, fmt.Errorf("%q: want KEY=VALUE", w)
		}
	}
	return words, err
}

// expandKey is the label key that a word of a scenario names: one of the short
// names, or the word itself. A word in quotes stands for itself always.
func expandKey(key string) string {
	switch key {
	case "zone":
		return corev1.LabelTopologyZone
	case "arch":
		return corev1.LabelArchStable
	case "os":
		return corev1.LabelOSStable
	case "type":
		return corev1.LabelInstanceTypeStable
	case "host":
		return corev1.LabelHostname
	case "capacity-type":
		return offerings.CapacityTypeLabel
	case "reservation":
		return offerings.ReservationIDLabel
	case "pool":
		return scheduling.NodePoolLabel
	}
	return strings.Trim(key, `"`)
}

// parseExprs reads requirements, separated by commas.
func parseExprs(text string) ([]requirements.Selector, error) {
	var sels []requirements.Selector
	for part := range strings.SplitSeq(text, ",") {
		s, err := parseExpr(strings.Fields(part))
		if err != nil {
			return nil, fmt.Errorf("requirement %q: %w", strings.TrimSpace(part), err)
		}
		sels = append(sels, s)
	}
	return sels, nil
}

func parseExpr(f []string) (requirements.Selector, error) {
	var s requirements.Selector
	if len(f) < 2 {
		return s, errors.New("want a key and an operator")
	}
	if n := len(f); n >= 4 && f[n-2] == "min" {
		least, err := strconv.Atoi(f[n-1])
		if err != nil {
			return s, fmt.Errorf("min: %w", err)
		}
		s.MinValues = &least
		f = f[:n-2]
	}
	op, rest := f[1], f[2:]
	if op == "not" && len(rest) > 0 && rest[0] == "in" {
		op, rest = "not in", rest[1:]
	}
	operators := map[string]requirements.Operator{
		"in": requirements.In, "not in": requirements.NotIn,
		"exists": requirements.Exists, "absent": requirements.DoesNotExist,
		">": requirements.Gt, "<": requirements.Lt, ">=": requirements.Gte, "<=": requirements.Lte,
	}
	operator, ok := operators[op]
	if !ok {
		return s, fmt.Errorf("unknown operator %q", op)
	}
	s.Key, s.Operator = expandKey(f[0]), operator
	if len(rest) > 0 {
		s.Values = rest
	}
	return s, nil
}

// parseSelector reads conditions on the labels of pods or namespaces, separated by commas: KEY=VALUE…, or conditions of
// [parseExprs] but for comparisons of numbers. An empty text is a selector of all pods. Keys are not abbreviations
// here.
func parseSelector(text string) (*metav1.LabelSelector, error) {
	s := &metav1.LabelSelector{}
	if strings.TrimSpace(text) == "" {
		return s, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		if strings.Contains(part, "=") {
			words, err := parsePairs(part)
			if err != nil {
				return nil, err
			}
			for _, w := range words {
				s.MatchLabels = put(s.MatchLabels, w.key, w.value)
			}
			continue
		}
		fields := strings.Fields(part)
		e, err := parseExpr(fields)
		if err != nil {
			return nil, fmt.Errorf("selector %q: %w", strings.TrimSpace(part), err)
		}
		e.Key = fields[0]
		s.MatchExpressions = append(s.MatchExpressions, labelExpressions([]requirements.Selector{e})...)
	}
	return s, nil
}

// selectorWords reads the words about services and controllers.
func selectorWords(words []word) (namespace string, selector *metav1.LabelSelector, err error) {
	namespace = metav1.NamespaceDefault
	for _, w := range words {
		switch w.key {
		case "ns":
			namespace = w.value
		case "of":
			if selector, err = parseSelector(w.value); err != nil {
				return "", nil, err
			}
		default:
			return "", nil, unexpected(w)
		}
	}
	return namespace, selector, nil
}

// matchLabels are the labels that a selector asks for; nil where there is none.
func matchLabels(s *metav1.LabelSelector) map[string]string {
	if s == nil {
		return nil
	}
	return s.MatchLabels
}

// cutOwner reads KIND/NAME. Kinds have short names in lower case; others stand for
// themselves.
func cutOwner(text string) (kind, name string, err error) {
	kind, name, ok := strings.Cut(text, "/")
	if !ok {
		return "", "", fmt.Errorf("%q: want KIND/NAME", text)
	}
	kinds := map[string]string{
		"replicaset": "ReplicaSet", "statefulset": "StatefulSet", "controller": "ReplicationController", "job": "Job",
	}
	if long, ok := kinds[kind]; ok {
		kind = long
	}
	return kind, name, nil
}

// parsePort reads [IP:]PORT[/PROTOCOL], a host port. The protocol is TCP unless
// it is stated.
func parsePort(text string) (PodOption, error) {
	address, protocol, ok := strings.Cut(text, "/")
	if !ok {
		protocol = string(corev1.ProtocolTCP)
	}
	ip, port := "", address
	if i := strings.LastIndexByte(address, ':'); i >= 0 {
		ip, port = address[:i], address[i+1:]
	}
	n, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("port %q: want [IP:]PORT[/PROTOCOL]", text)
	}
	return hostPortOn(ip, int32(n), corev1.Protocol(protocol)), nil
}

// parseTaint reads KEY[=VALUE]:EFFECT, the form that kubectl taint reads.
func parseTaint(text string) (key, value string, effect corev1.TaintEffect, err error) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return "", "", "", fmt.Errorf("taint %q: want KEY[=VALUE]:EFFECT", text)
	}
	key, value, _ = strings.Cut(text[:i], "=")
	return key, value, corev1.TaintEffect(text[i+1:]), nil
}

// parseToleration reads KEY[=VALUE][:EFFECT], KEY>VALUE[:EFFECT],
// KEY<VALUE[:EFFECT], or *[:EFFECT] for every key. A key without a value tolerates
// all values.
func parseToleration(text string) corev1.Toleration {
	t := corev1.Toleration{Operator: corev1.TolerationOpExists}
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		text, t.Effect = text[:i], corev1.TaintEffect(text[i+1:])
	}
	t.Key = strings.TrimPrefix(text, "*")
	for sep, op := range map[string]corev1.TolerationOperator{
		"=": corev1.TolerationOpEqual, ">": corev1.TolerationOpGt, "<": corev1.TolerationOpLt,
	} {
		if key, value, ok := strings.Cut(text, sep); ok {
			t.Key, t.Operator, t.Value = key, op, value
		}
	}
	return t
}

// driverNames are short for the names of drivers.
func driverNames() map[string]string {
	return map[string]string{
		"ebs": diskDriver, "gce": "pd.csi.storage.gke.io", "azure": "disk.csi.azure.com", "efs": "efs.csi.aws.com",
		"in-tree-ebs": inTreeEBS, "in-tree-gce": inTreeGCE, "in-tree-azure": inTreeAzure,
		"local": inTreeLocal, "host-path": inTreeHost, "nfs": inTreeNFS,
	}
}

// driverName is the driver that a word of a scenario names: a short name, or the
// word itself.
func driverName(text string) string {
	if name, ok := driverNames()[text]; ok {
		return name
	}
	return text
}
