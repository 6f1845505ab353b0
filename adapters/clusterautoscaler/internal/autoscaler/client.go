package autoscaler

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/internal/grpcplugin"
)

// Generation is a set of versions of Cluster Autoscaler that write the same messages.
type Generation int

// The generations.
const (
	// Messages are the versions up to 1.33: nodes and pods are messages.
	Messages Generation = iota
	// Both is version 1.34: messages and bytes.
	Both
	// Bytes are the versions from 1.35 on: bytes that hold the messages.
	Bytes
)

// Timeout is how long the autoscaler waits for an answer.
const Timeout = 5 * time.Second

// Marshal is the message of a request. Nodes are in the order of the options, further ones are left out.
func Marshal(r expander.Request, g Generation) ([]byte, error) {
	var out []byte
	for i := range r.Options {
		o, err := marshalOption(&r.Options[i], g)
		if err != nil {
			return nil, err
		}
		out = appendBytes(out, 1, o)
	}
	for _, o := range r.Options {
		template, ok := r.Templates[o.NodeGroup]
		if !ok {
			continue
		}
		node, err := template.Marshal()
		if err != nil {
			return nil, err
		}
		entry := appendBytes(appendBytes(nil, 1, []byte(o.NodeGroup)), 2, node)
		if g != Bytes {
			out = appendBytes(out, 2, entry)
		}
		if g != Messages {
			out = appendBytes(out, 3, entry)
		}
	}
	return out, nil
}

func marshalOption(o *expander.Option, g Generation) ([]byte, error) {
	out := appendBytes(nil, 1, []byte(o.NodeGroup))
	out = protowire.AppendVarint(protowire.AppendTag(out, 2, protowire.VarintType), uint64(int64(o.NodeCount)))
	out = appendBytes(out, 3, []byte(o.Debug))
	for _, p := range o.Pods {
		pod, err := p.Marshal()
		if err != nil {
			return nil, err
		}
		if g != Bytes {
			out = appendBytes(out, 4, pod)
		}
		if g != Messages {
			out = appendBytes(out, 5, pod)
		}
	}
	return out, nil
}

func appendBytes(to []byte, field protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, field, protowire.BytesType), value)
}

// BestOptions sends a message, and returns the groups of the answer's options.
func BestOptions(ctx context.Context, conn grpc.ClientConnInterface, message []byte) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	var answer []byte
	if err := conn.Invoke(ctx, grpcplugin.Method, message, &answer, grpc.ForceCodecV2(raw{})); err != nil {
		return nil, err
	}
	var groups []string
	for len(answer) > 0 {
		_, _, n := protowire.ConsumeTag(answer)
		option, m := protowire.ConsumeBytes(answer[max(n, 0):])
		if n < 0 || m < 0 {
			return nil, fmt.Errorf("malformed answer: %w", protowire.ParseError(min(n, m)))
		}
		_, _, k := protowire.ConsumeTag(option) // the id of the group is the first field
		group, l := protowire.ConsumeString(option[max(k, 0):])
		if k < 0 || l < 0 {
			return nil, fmt.Errorf("malformed option: %w", protowire.ParseError(min(k, l)))
		}
		groups, answer = append(groups, group), answer[n+m:]
	}
	return groups, nil
}

// Options are the options that the autoscaler goes on with: those of the answer; all options after an error, and where
// the answer names none of them; and none after an empty answer.
func Options(ctx context.Context, conn grpc.ClientConnInterface, r expander.Request, g Generation) ([]expander.Option, error) {
	message, err := Marshal(r, g)
	if err != nil {
		return nil, err
	}
	groups, err := BestOptions(ctx, conn, message)
	if err != nil {
		return r.Options, nil //nolint:nilerr // as the autoscaler does
	}
	var out []expander.Option
	for _, group := range groups {
		for _, o := range r.Options {
			if o.NodeGroup == group {
				out = append(out, o)
			}
		}
	}
	if len(groups) > 0 && len(out) == 0 {
		return r.Options, nil
	}
	return out, nil
}

// raw passes messages as their bytes.
type raw struct{}

// Name implements encoding.CodecV2.
func (raw) Name() string { return "proto" }

// Marshal implements encoding.CodecV2.
func (raw) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

// Unmarshal implements encoding.CodecV2.
func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}
