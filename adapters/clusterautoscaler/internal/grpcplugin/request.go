package grpcplugin

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
)

// The fields of the messages.
const (
	requestOptions      protowire.Number = 1
	requestNodeMap      protowire.Number = 2
	requestNodeBytesMap protowire.Number = 3

	optionNodeGroup protowire.Number = 1
	optionNodeCount protowire.Number = 2
	optionDebug     protowire.Number = 3
	optionPods      protowire.Number = 4
	optionPodBytes  protowire.Number = 5

	responseOptions protowire.Number = 1

	entryKey   protowire.Number = 1
	entryValue protowire.Number = 2
)

// Read reads a BestOptionsRequest, and keeps none of its bytes. The error names the malformed field.
func Read(message []byte) (expander.Request, error) {
	r := expander.Request{Templates: map[string]*corev1.Node{}}
	pods := newPodReader()
	older := map[string]*corev1.Node{}
	err := eachField(message, func(f field) (err error) {
		switch f.name {
		case requestOptions:
			var o expander.Option
			if o, err = pods.option(f.bytes); err != nil {
				return fmt.Errorf("options[%d]%w", len(r.Options), err)
			}
			r.Options = append(r.Options, o)
		case requestNodeMap:
			if err = readTemplate(older, f.bytes); err != nil {
				return fmt.Errorf("nodeMap%w", err)
			}
		case requestNodeBytesMap:
			if err = readTemplate(r.Templates, f.bytes); err != nil {
				return fmt.Errorf("nodeBytesMap%w", err)
			}
		}
		return nil
	})
	if err != nil {
		return expander.Request{}, fmt.Errorf("malformed BestOptionsRequest: %w", err)
	}
	if len(r.Templates) == 0 {
		r.Templates = older
	}
	return r, nil
}

// readTemplate adds an entry of a map of nodes. The error begins with the key of the entry.
func readTemplate(to map[string]*corev1.Node, entry []byte) error {
	var key, value []byte
	if err := eachField(entry, func(f field) error {
		switch f.name {
		case entryKey:
			key = f.bytes
		case entryValue:
			value = f.bytes
		}
		return nil
	}); err != nil {
		return fmt.Errorf(": %w", err)
	}
	node := &corev1.Node{}
	if err := node.Unmarshal(value); err != nil {
		return fmt.Errorf("[%q]: %w", key, err)
	}
	to[string(key)] = node
	return nil
}

// option reads an Option. The error begins with the path of the malformed field.
func (r *podReader) option(message []byte) (o expander.Option, err error) {
	var older [][]byte
	err = eachField(message, func(f field) error {
		switch f.name {
		case optionNodeGroup:
			if o.NodeGroup = string(f.bytes); !utf8.Valid(f.bytes) {
				return fmt.Errorf(".nodeGroupId: %q: %w", f.bytes, errText)
			}
		case optionNodeCount:
			o.NodeCount = int(int32(f.number))
		case optionDebug:
			if o.Debug = string(f.bytes); !utf8.Valid(f.bytes) {
				return fmt.Errorf(".debug: %q: %w", f.bytes, errText)
			}
		case optionPods:
			older = append(older, f.bytes)
		case optionPodBytes:
			pod, err := r.pod(f.bytes)
			if err != nil {
				return fmt.Errorf(".podBytes[%d]: %w", len(o.Pods), err)
			}
			o.Pods = append(o.Pods, pod)
		}
		return nil
	})
	if err != nil || len(o.Pods) > 0 {
		return o, err
	}
	for i, m := range older {
		pod, err := r.pod(m)
		if err != nil {
			return o, fmt.Errorf(".pod[%d]: %w", i, err)
		}
		o.Pods = append(o.Pods, pod)
	}
	return o, nil
}

// errText is the fault of text that a client could not read in the response.
var errText = errors.New("must be valid UTF-8")
