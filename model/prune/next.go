package prune

import (
	"fmt"

	"chkscope/model"
)

// NextSteps tells what to do with the copy for each way to run Flink, one step a
// string, with the path filled in. What a new object of high availability needs
// comes first: who removes the HA entries, as a restore from the path asks, has
// nothing left that the object could be recovered by.
func (p *Plan) NextSteps() []string {
	restore, word := p.Destination, model.ShellWord(p.Destination)
	mode := p.ClaimMode
	steps := p.objectSteps()
	if len(steps) > 0 {
		steps = append(steps, "Or restore from the path instead of high availability; all that follows is for that alone.")
	}
	steps = append(steps,
		"Stop the job without deleting its checkpoints (retain them on cancellation, or stop it with a savepoint).",
		"Where high availability is on, this job's HA entries must go first (back them up): the ZooKeeper nodes or ConfigMaps of the job and its completedCheckpoint files. Otherwise Flink takes its own latest checkpoint and the path below is ignored.",
		fmt.Sprintf("Command line, Flink 1.20 and later: flink run -s %s -D execution.state-recovery.claim-mode=%s …", word, mode),
	)
	if p.MetadataVersion < 5 {
		steps = append(steps, fmt.Sprintf("Command line, Flink 1.15 to 1.19: flink run -s %s -D execution.savepoint-restore-mode=%s …", word, mode))
	}
	if p.MetadataVersion < 4 {
		steps = append(steps, fmt.Sprintf("Command line, up to Flink 1.14 (no claim modes): flink run -s %s …", word))
	}
	steps = append(steps,
		"--allowNonRestoredState is needed only where the copy still has an operator that the job has not.",
		fmt.Sprintf("Kubernetes operator: set spec.job.initialSavepointPath: %s. It counts for the first deployment only: delete the FlinkDeployment and create it again, or raise spec.job.savepointRedeployNonce.", restore),
		fmt.Sprintf("Application or standalone mode: start it with -s %s, or set execution.state-recovery.path (up to 1.19 execution.savepoint.path).", word),
		fmt.Sprintf("The JobManager's log shows that the path was used: \"Starting job … from savepoint %s\", then \"Restoring job … located at …\". Without the first line HA entries won.", restore),
	)
	return append(steps, p.ClaimSentence)
}
