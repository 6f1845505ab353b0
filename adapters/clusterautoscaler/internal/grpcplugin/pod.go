package grpcplugin

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Fields of a Pod and of its metadata.
const (
	podMetadata protowire.Number = 1
	podSpec     protowire.Number = 2

	metadataName      protowire.Number = 1
	metadataNamespace protowire.Number = 3
	metadataUID       protowire.Number = 5
	metadataLabels    protowire.Number = 11
)

// specFields are the fields of a PodSpec that an [expander.Option] states. Without the others, e.g. the volume of the
// service account's token, which has a random name, the pods of a workload have the same bytes.
func specFields() fieldSet {
	container := fieldSet{
		1:  nil, // name
		6:  nil, // ports
		8:  nil, // resources
		24: nil, // restartPolicy
	}
	return fieldSet{
		2:  container,                // containers
		11: nil,                      // hostNetwork
		18: fieldSet{2: nil, 3: nil}, // affinity: podAffinity, podAntiAffinity
		20: container,                // initContainers
		32: nil,                      // overhead
		33: nil,                      // topologySpreadConstraints
		40: nil,                      // resources
	}
}

// podReader reads the pods of a request, each of them once.
type podReader struct {
	labels, spec fieldSet
	// pods are by the key of keyOf.
	pods map[string]*readPod
	// first is before the first pod of each option.
	first readPod
	// specsOf and labelsOf are by the bytes of their fields.
	specsOf  map[string]*corev1.PodSpec
	labelsOf map[string]map[string]string
	// part is memory for the fields of one pod.
	part []byte
}

// readPod is a pod that was read.
type readPod struct {
	pod *corev1.Pod
	// start is the message up to the end of the key: messages with the same start are of the same pod.
	start string
	// next is the pod that came after this one when it was read last, because options list the pods of a workload in
	// the same order.
	next *readPod
}

func newPodReader() *podReader {
	return &podReader{
		labels: fieldSet{metadataLabels: nil}, spec: specFields(),
		pods: map[string]*readPod{}, specsOf: map[string]*corev1.PodSpec{}, labelsOf: map[string]map[string]string{},
	}
}

// after reads the Pod that an option has after another one, or returns the one that was read before.
func (r *podReader) after(before *readPod, message []byte) (*readPod, error) {
	if p := before.next; p != nil && len(message) >= len(p.start) && string(message[:len(p.start)]) == p.start {
		return p, nil
	}
	key, start, err := keyOf(message)
	if err != nil {
		return nil, err
	}
	p, ok := r.pods[key]
	if !ok {
		p = &readPod{start: string(message[:start])}
		if p.pod, err = r.read(message); err != nil {
			return nil, err
		}
		r.pods[key] = p
	}
	before.next = p
	return p, nil
}

// keyOf is the uid of a pod, or namespace/name where it has none, with the length of the message up to its end.
func keyOf(message []byte) (key string, start int, err error) {
	metadata, start, err := find(message, podMetadata)
	if err != nil {
		return "", 0, err
	}
	uid, end, err := find(metadata, metadataUID)
	if err != nil {
		return "", 0, fmt.Errorf("metadata: %w", err)
	}
	if len(uid) > 0 {
		return string(uid), start - len(metadata) + end, nil
	}
	namespace, _, err := find(metadata, metadataNamespace)
	if err != nil {
		return "", 0, fmt.Errorf("metadata: %w", err)
	}
	name, _, err := find(metadata, metadataName)
	return string(namespace) + "/" + string(name), start, err
}

// read reads a Pod.
func (r *podReader) read(message []byte) (*corev1.Pod, error) {
	metadata, _, err := find(message, podMetadata)
	if err != nil {
		return nil, err
	}
	pod := &corev1.Pod{}
	if err := eachField(metadata, func(f field) error {
		switch f.name {
		case metadataName:
			pod.Name = string(f.bytes)
		case metadataNamespace:
			pod.Namespace = string(f.bytes)
		case metadataUID:
			pod.UID = types.UID(f.bytes)
		}
		return nil
	}); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	if pod.Labels, err = r.readLabels(metadata); err != nil {
		return nil, fmt.Errorf("metadata.labels: %w", err)
	}
	spec, _, err := find(message, podSpec)
	if err != nil {
		return nil, err
	}
	known, err := r.readSpec(spec)
	if err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	pod.Spec = *known
	return pod, nil
}

// readLabels reads the labels of metadata.
func (r *podReader) readLabels(metadata []byte) (map[string]string, error) {
	var err error
	if r.part, err = r.labels.appendTo(r.part[:0], metadata); err != nil {
		return nil, err
	}
	labels, ok := r.labelsOf[string(r.part)]
	if !ok {
		var m metav1.ObjectMeta
		if err := m.Unmarshal(r.part); err != nil {
			return nil, err
		}
		labels = m.Labels
		r.labelsOf[string(r.part)] = labels
	}
	return labels, nil
}

// readSpec reads the fields of a spec that are needed.
func (r *podReader) readSpec(message []byte) (*corev1.PodSpec, error) {
	var err error
	if r.part, err = r.spec.appendTo(r.part[:0], message); err != nil {
		return nil, err
	}
	spec, ok := r.specsOf[string(r.part)]
	if !ok {
		spec = &corev1.PodSpec{}
		if err := spec.Unmarshal(r.part); err != nil {
			return nil, err
		}
		r.specsOf[string(r.part)] = spec
	}
	return spec, nil
}
