//! How the host runs: the command line, then the file, then the defaults.

use std::path::PathBuf;

use anyhow::Result;
use toml::Spanned;
use transom_host::decisions::DAYS;

use super::{
    file,
    model::{Frames, Run},
    reader::Reader,
    setting::Setting,
};
use crate::arguments::PORT;

impl Reader<'_> {
    pub(super) fn run(&self, file: &file::Run) -> Result<Run> {
        self.agree(file)?;
        let said = self.arguments;
        let yes = |flag: bool, name| flag.then_some((true, name));
        let port = said.port.map(|port| (port, "--port"));
        let (frames, doors) = (self.frames(file)?, self.doors(file)?);
        doors.check(&frames.value)?;
        Ok(Run {
            port: Setting::choose(port, self.setting(&file.port), PORT),
            open: Setting::choose(yes(said.open, "--open"), self.setting(&file.open), false),
            json: Setting::choose(yes(said.json, "--json"), self.setting(&file.json), false),
            data: self.data(file)?,
            prefetch: Setting::choose(
                said.no_prefetch.then_some((false, "--no-prefetch")),
                self.setting(&file.prefetch),
                true,
            ),
            frames,
            doors,
            audit: {
                let flag = said.no_audit.then_some((false, "--no-audit"));
                Setting::choose(flag, self.setting(&file.audit), true)
            },
            retain: {
                let flag = said.retain.map(|days| (Some(days), "--retain"));
                let file = file.audit_retain.as_ref();
                let file = file.map(|days| self.place(days, Some(*days.get_ref())));
                Setting::choose(flag, file, None)
            },
            remember: Setting::choose(None, self.setting(&file.remember_days), DAYS),
            record: said.record.clone(),
            model: said.model.model()?,
            audit_sync: {
                let flag = yes(said.audit_sync, "--audit-sync");
                Setting::choose(flag, self.setting(&file.audit_sync), false)
            },
        })
    }

    /// Refuses settings that undo one another: the author of the file cannot mean both.
    fn agree(&self, file: &file::Run) -> Result<()> {
        let is = |said: &Option<Spanned<bool>>, value| {
            said.as_ref().is_some_and(|it| *it.get_ref() == value)
        };
        let words = "listen has a port of its own; keep one of them";
        self.refuse(&file.port.clone().filter(|_| file.listen.is_some()), words)?;
        if is(&file.audit, false) {
            let words = "there is no audit, because audit = false; keep one of them";
            self.refuse(&file.audit_sync.clone().filter(|it| *it.get_ref()), words)?;
            self.refuse(&file.audit_retain, words)?;
        }
        if is(&file.no_data, true) {
            let words = "nothing is kept, because no-data = true; keep one of them";
            self.refuse(&file.audit.clone().filter(|it| *it.get_ref()), words)?;
            self.refuse(&file.audit_retain, words)?;
            self.refuse(&file.remember_days, words)?;
        }
        Ok(())
    }

    fn data(&self, file: &file::Run) -> Result<Setting<Option<PathBuf>>> {
        let flag = self.arguments.data_dir.clone().map(|folder| (Some(folder), "--data-dir"));
        let flag = flag.or_else(|| self.arguments.no_data.then_some((None, "--no-data")));
        let nothing = file.no_data.as_ref().filter(|nothing| *nothing.get_ref());
        // A stranger who brings the file could bring the folder too, with decisions in it that the person never made.
        if !self.named {
            self.refuse(
                &file.data_dir,
                "a file that was only found does not choose the data folder; say --data-dir, or name the file with \
                 --toml",
            )?;
        }
        let file = match (&file.data_dir, nothing) {
            (Some(_), Some(nothing)) => {
                let words = "no-data contradicts data-dir; keep one of them";
                return Err(self.text.problem(nothing.span(), words).into());
            }
            (Some(folder), None) => {
                let resolved = self.around.resolve(self.folder(), folder.get_ref());
                Some(self.place(folder, Some(resolved)))
            }
            (None, Some(nothing)) => Some(self.place(nothing, None)),
            (None, None) => None,
        };
        Ok(Setting::choose(flag, file, self.around.data_folder()))
    }

    fn frames(&self, file: &file::Run) -> Result<Setting<Frames>> {
        let said = self.arguments;
        let domain = said.sandbox_domain.clone();
        let domain = domain.map(|domain| (Frames::Domain(domain), "--sandbox-domain"));
        let flag = domain.or_else(|| said.sandbox.map(|mode| (mode.into(), "--sandbox")));
        let file = match (&file.sandbox, &file.sandbox_domain) {
            (Some(_), Some(domain)) => {
                let words = "sandbox-domain takes the place of sandbox; keep one of them";
                return Err(self.text.problem(domain.span(), words).into());
            }
            (Some(mode), None) => Some(self.place(mode, (*mode.get_ref()).into())),
            (None, Some(domain)) => {
                Some(self.place(domain, Frames::Domain(domain.get_ref().0.clone())))
            }
            (None, None) => None,
        };
        Ok(Setting::choose(flag, file, Frames::Names))
    }
}
