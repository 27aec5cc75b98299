package prune

import "fmt"

// objectSteps tells how the new object takes the place of the old one. The lines
// of the log are those of DefaultCompletedCheckpointStoreUtils and
// CheckpointCoordinator, the same in Flink 1.15 to 2.3.
func (p *Plan) objectSteps() []string {
	o := p.Object
	if o == nil || p.Destination == "" {
		return nil
	}
	steps := []string{
		"To restart the same cluster from high availability (this instead of a restore from the path): stop all its JobManagers (stop the processes, or scale the Deployment to 0). Do not cancel the job: that deletes its HA entries.",
	}
	n, back := o.Pointer, "put the backup under the old name"
	switch {
	case o.Kept != nil:
		steps = []string{fmt.Sprintf("The new object is in the place of the old one, which is kept as %s. Flink knows nothing of that file, and never deletes it.", *o.Kept)}
		back = fmt.Sprintf("mv %s %s", localWord(*o.Kept), localWord(o.Source))
	case n == nil:
		steps = append(steps,
			fmt.Sprintf("Back up the old object (%s) and what points to it: `zkCli.sh get -b` of /…/checkpoints/NUMBER (ZooKeeper 3.9 and later), or `kubectl get configmap … -o yaml`.", o.Source),
			fmt.Sprintf("Put the new object under the old name: copy %s over %s. What points to it stays as it is: the length that it records is not looked at.", o.URI, o.Source))
	default:
		there, again := n.commands(o.Checkpoint)
		back = again
		steps = append(steps, "Let the pointer lead to the new object, where it lies: "+there)
		if n.ConfigMap == "" {
			steps = append(steps, fmt.Sprintf("zkCli.sh before 3.9 has no -b and cannot write these bytes: with Python, kazoo.client.KazooClient(\"HOST:2181\"), start(), set(PATH, open(%q, \"rb\").read()).", localFile(n.Files[0])))
		} else {
			steps = append(steps, "Kubernetes refuses the patch where the entry is not the one any more that it was made for: a newer checkpoint was there, and that one has to be pruned.")
		}
		steps = append(steps, fmt.Sprintf("Or leave the pointer as it is and put the new object under the old name: keep a copy of the old one, then copy %s over %s. The length that the pointer records is not looked at.", o.URI, o.Source))
	}
	steps = append(steps,
		fmt.Sprintf("Start the JobManager. Its log shows \"Recovering checkpoints from …\", \"Trying to retrieve checkpoint %[1]d.\" and \"Restoring job … from Checkpoint %[1]d @ … located at …\", with the old checkpoint's directory, which the object still names. With another number a newer object was there: that one has to be pruned.", o.Checkpoint),
		fmt.Sprintf("To go back: stop the JobManagers, %s, start them.", back))
	if n != nil && o.Kept == nil {
		steps = append(steps, fmt.Sprintf("Keep %s while the pointer leads there. Flink deletes the new object itself when it drops the checkpoint; nobody deletes the old one.", o.URI))
	}
	if p.Files.Rewritten > 0 {
		steps = append(steps, fmt.Sprintf("Keep %s, at that very path as Flink sees it, until the job has completed new checkpoints: the object names its changed files there. Until then chkscope tells ha-stale of it, as the old _metadata beside the source has what is gone.", p.Destination))
	}
	return steps
}
