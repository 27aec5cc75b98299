package finding

import (
	"fmt"

	"chkscope/model"
)

var deploymentOverFramesize = Rule{
	ID:         idDeployment,
	Severities: "critical",
	When: "what the JobManager sends to deploy one task exceeds the RPC frame size (--framesize): the task's own split, broadcast, keyed and channel handles and the union states of all subtasks. " +
		"Each operator stands alone, as the chain is not in _metadata: a lower bound",
	Why:        "the restore hangs with \"Discarding oversized payload\" while checkpoints went on succeeding (FLINK-10122); from Flink 2.2 on the state part goes through the BLOB server",
	Thresholds: []Threshold{{"framesize", model.DefaultFrameSize, "bytes"}, {"base_message", baseMessage, "bytes"}},
	Evidence: []Key{{"framesize", "bytes, --framesize"}, {"restore_bytes", "R: the serialized JobManagerTaskRestore of the heaviest task"},
		{"message_bytes", "B + R"}, {"tasks", "how many such messages: the parallelism"}, {"all_messages_bytes", "message_bytes times tasks: what the JobManager serializes"}},
	check: func(r *run) ([]Finding, error) {
		var out []Finding
		limit := r.s.Options.FrameSize
		for op, size := range r.restoreSizes() {
			message := baseMessage + size.restore
			if !size.restores || message <= limit {
				continue
			}
			out = append(out, Finding{
				Severity: Critical, Certainty: Proved,
				Target: model.OperatorTarget(r.s.Meta.Operators[op].ID),
				Evidence: Evidence{{"framesize", limit}, {"restore_bytes", size.restore}, {"message_bytes", message},
					{"tasks", size.tasks}, {"all_messages_bytes", message * size.tasks}},
				Cause: fmt.Sprintf("A restore sends about %s to each of %s of %s; the limit is %s, and a longer message is dropped: the tasks never start.",
					model.FormatSize(message), model.FormatPlural(size.tasks, "task"), r.operatorName(op), model.FormatSize(limit)),
				Action: "Remove what makes it so large (see the other findings of this operator), or raise pekko.framesize (akka.framesize before 1.18) for this one restore.",
			})
		}
		return out, nil
	},
}

var acknowledgeOverFramesize = Rule{
	ID:         idAcknowledge,
	Severities: "critical",
	When:       "one subtask's own snapshot (its handles and inline bytes) exceeds the RPC frame size",
	Why:        "the subtask cannot acknowledge the checkpoint, so none completes any more (FLINK-26050: 199,964,727 bytes)",
	Thresholds: []Threshold{{"framesize", model.DefaultFrameSize, "bytes"}, {"base_acknowledge", baseAcknowledge, "bytes"}},
	Evidence:   []Key{{"framesize", "bytes, --framesize"}, {"message_bytes", "the largest acknowledgement"}, {"subtask", "the subtask that sends it"}},
	check: func(r *run) ([]Finding, error) {
		var out []Finding
		limit := r.s.Options.FrameSize
		for op, size := range r.restoreSizes() {
			if !size.restores || size.ack <= limit {
				continue
			}
			out = append(out, Finding{
				Severity: Critical, Certainty: Proved,
				Target:   model.OperatorTarget(r.s.Meta.Operators[op].ID),
				Evidence: Evidence{{"framesize", limit}, {"message_bytes", size.ack}, {"subtask", int64(size.ackAt)}},
				Cause: fmt.Sprintf("Subtask %d of %s acknowledges a checkpoint with about %s; the limit is %s, and a longer message is dropped: no checkpoint completes.",
					size.ackAt, r.operatorName(op), model.FormatSize(size.ack), model.FormatSize(limit)),
				Action: "Remove what makes its snapshot so large, or raise pekko.framesize (akka.framesize before 1.18).",
			})
		}
		return out, nil
	},
}
