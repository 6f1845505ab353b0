package grpcplugin

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"google.golang.org/grpc/mem"
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
func Read(message mem.BufferSlice) (expander.Request, error) {
	r := expander.Request{Templates: map[string]*corev1.Node{}}
	reader := requestReader{newStream(message), newPodReader()}
	older := map[string]*corev1.Node{}
	err := reader.message.eachField(reader.message.left, func(f streamField) error {
		switch f.name {
		case requestOptions:
			o, err := reader.option(f.length)
			if err != nil {
				return fmt.Errorf("options[%d]%w", len(r.Options), err)
			}
			r.Options = append(r.Options, o)
		case requestNodeMap:
			if err := readTemplate(older, reader.message.take(f.length)); err != nil {
				return fmt.Errorf("nodeMap%w", err)
			}
		case requestNodeBytesMap:
			if err := readTemplate(r.Templates, reader.message.take(f.length)); err != nil {
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

// requestReader reads a request.
type requestReader struct {
	message *stream
	pods    *podReader
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

// option reads an Option of a length. The error begins with the path of the malformed field.
func (r *requestReader) option(length int) (o expander.Option, err error) {
	var pods, older podList
	for _, list := range []*podList{&pods, &older} {
		list.last = &r.pods.first
	}
	err = r.message.eachField(length, func(f streamField) (err error) {
		switch f.name {
		case optionNodeGroup:
			o.NodeGroup, err = text(".nodeGroupId", r.message.take(f.length))
		case optionNodeCount:
			o.NodeCount = int(int32(f.number))
		case optionDebug:
			o.Debug, err = text(".debug", r.message.take(f.length))
		case optionPods:
			err = r.add(&older, ".pod", f.length)
		case optionPodBytes:
			err = r.add(&pods, ".podBytes", f.length)
		}
		return err
	})
	if o.Pods = pods.pods; len(o.Pods) == 0 {
		o.Pods = older.pods
	}
	return o, err
}

// podList is pods of an option, and the last of them.
type podList struct {
	pods []*corev1.Pod
	last *readPod
}

// add reads the next pod of a list in a field.
func (r *requestReader) add(to *podList, field string, length int) error {
	p, err := r.pods.after(to.last, r.message.take(length))
	if err != nil {
		return fmt.Errorf("%s[%d]: %w", field, len(to.pods), err)
	}
	to.pods, to.last = append(to.pods, p.pod), p
	return nil
}

// text is the value of a field that a client must be able to read in the response.
func text(field string, value []byte) (string, error) {
	if !utf8.Valid(value) {
		return "", fmt.Errorf("%s: %q: must be valid UTF-8", field, value)
	}
	return string(value), nil
}

// errGroup is the fault of a field of a kind that no version of the messages has.
var errGroup = errors.New("groups are not supported")
