//! The numbers as Prometheus reads them.

use std::{fmt::Error, sync::Arc, time::Duration};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, NoLabelSet, text},
    metrics::MetricType,
    registry::{Registry, Unit},
};

use super::Told;
use crate::{
    metrics::{Ended, LIMITS, Latency, Metrics, OfServer, Verdict},
    server::Standing,
};

/// What the text is.
pub(super) const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// All numbers as they are now.
pub(super) async fn print(told: &Told, ready: bool) -> Result<String, Error> {
    let (_, servers) = told.servers.after(None, Duration::ZERO).await;
    let audit = told.audit.as_ref().map(|audit| {
        let (waiting, state) = (audit.waiting(), audit.state());
        let state = state.borrow();
        AuditNumbers { written: state.written, waiting, failed: state.failed.is_some() }
    });
    let queued = told.events.max_capacity() - told.events.capacity();
    let seen = Seen {
        metrics: Arc::clone(&told.metrics),
        servers: servers.into_iter().map(|server| (server.name, server.state)).collect(),
        audit,
        queued: queued as u64,
        ready,
    };
    let mut registry = Registry::with_prefix("transom");
    registry.register_collector(Box::new(seen));
    let mut printed = String::new();
    text::encode(&mut printed, &registry)?;
    Ok(printed)
}

/// Everything at one moment.
#[derive(Debug)]
struct Seen {
    metrics: Arc<Metrics>,
    servers: Vec<(String, Standing)>,
    audit: Option<AuditNumbers>,
    /// What waits for the loop.
    queued: u64,
    ready: bool,
}

#[derive(Debug)]
struct AuditNumbers {
    written: u64,
    waiting: u64,
    failed: bool,
}

impl Collector for Seen {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let mut page = Page(encoder);
        page.0
            .encode_descriptor("build", "The version that runs.", None, MetricType::Info)?
            .encode_info(&[("version", env!("CARGO_PKG_VERSION"))])?;
        page.gauge("ready", "Whether new views can be opened.", u64::from(self.ready))?;
        page.gauge("pages", "Pages that are connected.", self.metrics.pages.there())?;
        page.gauge("gate_queue", "What waits for the gate's loop; 4096 is full.", self.queued)?;
        page.latency(
            "gate",
            "How long the gate takes for a message of a page.",
            &self.metrics.gate,
        )?;
        self.encode_servers(&mut page)?;
        match &self.audit {
            Some(audit) => audit.encode(&mut page),
            None => Ok(()),
        }
    }
}

impl Seen {
    fn encode_servers(&self, page: &mut Page<'_>) -> Result<(), Error> {
        let help = "How a server is: 1 for the state that it is in.";
        let mut states = page.0.encode_descriptor("server_state", help, None, MetricType::Gauge)?;
        for (name, standing) in &self.servers {
            for (state, word) in STATES {
                let labels = [("server", name.as_str()), ("state", word)];
                states.encode_family(&labels)?.encode_gauge(&u64::from(state == *standing))?;
            }
        }
        let all = &self.metrics;
        page.each_server("views", "Views that are open.", MetricType::Gauge, all, |of| {
            of.views.there()
        })?;
        page.each_server(
            "opened_views",
            "Views that were opened.",
            MetricType::Counter,
            all,
            |of| of.views.came.get(),
        )?;
        page.each_server("questions", "Questions to a person.", MetricType::Counter, all, |of| {
            of.asked.get()
        })?;
        page.each_server(
            "answers",
            "Answers of a person to questions.",
            MetricType::Counter,
            all,
            |of| of.answered.get(),
        )?;
        let help = "What the gate said of requests and messages of views.";
        page.each_word("verdicts", help, "verdict", Verdict::ALL, all, |of| of.verdicts.get())?;
        let help = "Limits that views reached.";
        page.each_word("limits", help, "limit", LIMITS.map(|(_, word)| word), all, |of| {
            of.limits.get()
        })?;
        let help = "Calls and reads of servers, for views and for the tools that open them.";
        page.each_word("calls", help, "outcome", Ended::ALL, all, |of| of.calls.get())?;
        let help = "How long servers take to answer.";
        let mut took =
            page.0.encode_descriptor("call", help, Some(&Unit::Seconds), MetricType::Histogram)?;
        for (name, of) in all.servers() {
            let (sum, count, buckets) = of.took.read();
            let labels = [("server", name)];
            took.encode_family(&labels)?
                .encode_histogram::<NoLabelSet>(sum, count, &buckets, None)?;
        }
        Ok(())
    }
}

impl AuditNumbers {
    fn encode(&self, page: &mut Page<'_>) -> Result<(), Error> {
        page.counter("audit_rows", "Rows of the audit that were written.", self.written)?;
        let help = "Rows that are not written yet; their effects wait.";
        page.gauge("audit_waiting", help, self.waiting)?;
        let help =
            "Whether the audit cannot be written any more; nothing is done for any view then.";
        page.gauge("audit_failed", help, u64::from(self.failed))
    }
}

/// Where they are written.
struct Page<'a>(DescriptorEncoder<'a>);

impl Page<'_> {
    fn gauge(&mut self, name: &str, help: &str, value: u64) -> Result<(), Error> {
        self.0.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(&value)
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) -> Result<(), Error> {
        let mut encoder = self.0.encode_descriptor(name, help, None, MetricType::Counter)?;
        encoder.encode_counter::<NoLabelSet, _, u64>(&value, None)
    }

    fn latency(&mut self, name: &str, help: &str, latency: &Latency) -> Result<(), Error> {
        let (sum, count, buckets) = latency.read();
        let mut encoder =
            self.0.encode_descriptor(name, help, Some(&Unit::Seconds), MetricType::Histogram)?;
        encoder.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)
    }

    /// A number of each server.
    fn each_server(
        &mut self,
        name: &str,
        help: &str,
        kind: MetricType,
        all: &Metrics,
        read: impl Fn(&OfServer) -> u64,
    ) -> Result<(), Error> {
        let mut encoder = self.0.encode_descriptor(name, help, None, kind)?;
        for (server, of) in all.servers() {
            let labels = [("server", server)];
            let mut encoder = encoder.encode_family(&labels)?;
            match kind {
                MetricType::Counter => {
                    encoder.encode_counter::<NoLabelSet, _, u64>(&read(of), None)?
                }
                _ => encoder.encode_gauge(&read(of))?,
            }
        }
        Ok(())
    }

    /// A number of each server for each word of a closed list.
    fn each_word<const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        words: [&str; N],
        all: &Metrics,
        read: impl Fn(&OfServer) -> [u64; N],
    ) -> Result<(), Error> {
        let mut encoder = self.0.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (server, of) in all.servers() {
            for (word, value) in words.into_iter().zip(read(of)) {
                let labels = [("server", server), (label, word)];
                encoder
                    .encode_family(&labels)?
                    .encode_counter::<NoLabelSet, _, u64>(&value, None)?;
            }
        }
        Ok(())
    }
}

const STATES: [(Standing, &str); 4] = [
    (Standing::Connecting, "connecting"),
    (Standing::SignIn, "sign-in"),
    (Standing::Ready, "ready"),
    (Standing::Gone, "gone"),
];
