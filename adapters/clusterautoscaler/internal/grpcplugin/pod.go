package grpcplugin

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	metadata, labels, spec fieldSet
	// pods are by the key of appendKey.
	pods map[string]*corev1.Pod
	// specsOf and labelsOf are by the bytes of their fields.
	specsOf  map[string]*corev1.PodSpec
	labelsOf map[string]map[string]string
	// key and part are memory for the key of one pod and for its fields.
	key, part []byte
}

func newPodReader() *podReader {
	return &podReader{
		metadata: fieldSet{metadataName: nil, metadataNamespace: nil, metadataUID: nil}, labels: fieldSet{metadataLabels: nil}, spec: specFields(),
		pods: map[string]*corev1.Pod{}, specsOf: map[string]*corev1.PodSpec{}, labelsOf: map[string]map[string]string{},
	}
}

// pod reads a Pod, or returns the one that was read before.
func (r *podReader) pod(message []byte) (*corev1.Pod, error) {
	metadata, err := find(message, podMetadata)
	if err != nil {
		return nil, err
	}
	if r.key, err = appendKey(r.key[:0], metadata); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	if pod, ok := r.pods[string(r.key)]; ok {
		return pod, nil
	}
	pod := &corev1.Pod{}
	if r.part, err = r.metadata.appendTo(r.part[:0], metadata); err == nil {
		err = pod.ObjectMeta.Unmarshal(r.part)
	}
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	if pod.Labels, err = r.readLabels(metadata); err != nil {
		return nil, fmt.Errorf("metadata.labels: %w", err)
	}
	spec, err := find(message, podSpec)
	if err != nil {
		return nil, err
	}
	known, err := r.readSpec(spec)
	if err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	pod.Spec = *known
	r.pods[string(r.key)] = pod
	return pod, nil
}

// appendKey appends the uid of a pod, or namespace/name where it has none.
func appendKey(to, metadata []byte) ([]byte, error) {
	uid, err := find(metadata, metadataUID)
	if err != nil || len(uid) > 0 {
		return append(to, uid...), err
	}
	namespace, err := find(metadata, metadataNamespace)
	if err != nil {
		return to, err
	}
	name, err := find(metadata, metadataName)
	return append(append(append(to, namespace...), '/'), name...), err
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
