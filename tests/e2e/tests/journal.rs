//! The exactly-once checker detects each planted fault, and reports nothing without one.

use anyhow::{Result, ensure};
use eddy_e2e::journal::{FaultyRelay, InjectedFault, JournalOrigin, JournalSummary, Load, RequestOutcome};

async fn verdict_with(plant: InjectedFault) -> Result<JournalSummary> {
    let origin = JournalOrigin::start()?;
    let relay = FaultyRelay::start(origin.address(), plant).await?;
    let load = Load { gateway: relay.address(), connections: 8, seed: 1 }.start();
    load.until_sent(2000).await?;
    // Stopping waits for a thread; the relay must continue meanwhile.
    let sent = tokio::task::spawn_blocking(|| load.stop()).await??;
    let (seen, foreign) = origin.seen();
    Ok(JournalSummary::join(&sent, &seen, foreign))
}

#[tokio::test]
async fn no_failure_is_found_when_none_is_planted() -> Result<()> {
    let verdict = verdict_with(InjectedFault::Nothing).await?;
    ensure!(verdict.is_exactly_once() && verdict.repeated == 0 && verdict.clean == verdict.sent, "{verdict}");
    Ok(())
}

#[tokio::test]
async fn a_request_answered_without_the_origin_is_lost() -> Result<()> {
    let verdict = verdict_with(InjectedFault::AnswerItself).await?;
    ensure!(verdict.lost == 1 && !verdict.is_exactly_once(), "{verdict}");
    Ok(())
}

#[tokio::test]
async fn a_dropped_request_is_a_failure() -> Result<()> {
    let verdict = verdict_with(InjectedFault::Drop).await?;
    ensure!(verdict.failures() == 1 && verdict.unanswered == 0 && !verdict.is_exactly_once(), "{verdict}");
    Ok(())
}

#[tokio::test]
async fn a_request_sent_twice_is_duplicated() -> Result<()> {
    let verdict = verdict_with(InjectedFault::Duplicate).await?;
    ensure!(verdict.duplicated == 1 && !verdict.has_no_corruption(), "{verdict}");
    Ok(())
}

#[tokio::test]
async fn a_changed_byte_is_an_alteration() -> Result<()> {
    for plant in [InjectedFault::AlterRequest, InjectedFault::AlterResponse] {
        let verdict = verdict_with(plant).await?;
        ensure!(verdict.altered == 1 && !verdict.has_no_corruption(), "{plant:?}: {verdict}");
    }
    Ok(())
}

#[tokio::test]
async fn a_response_to_another_request_is_crossed() -> Result<()> {
    let verdict = verdict_with(InjectedFault::Cross).await?;
    ensure!(verdict.crossed == 1 && !verdict.has_no_corruption(), "{verdict}");
    Ok(())
}

#[tokio::test]
async fn a_silent_close_of_an_idle_connection_is_a_failure() -> Result<()> {
    let verdict = verdict_with(InjectedFault::CloseIdle).await?;
    ensure!(verdict.count(RequestOutcome::ResetReused) == 1 && !verdict.is_exactly_once(), "{verdict}");
    Ok(())
}
