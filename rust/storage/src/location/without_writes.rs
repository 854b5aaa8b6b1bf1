//! A store that reads, and discards what is written to it.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, Extensions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};

use super::table_location::TableLocation;

impl TableLocation {
    /// The same location for a dry run: requests that write or delete succeed and change nothing.
    #[must_use]
    pub fn without_writes(&self) -> Self {
        Self {
            store: Arc::new(WithoutWrites(Arc::clone(&self.store))),
            ..self.clone()
        }
    }
}

#[derive(Debug)]
struct WithoutWrites(Arc<dyn ObjectStore>);

impl fmt::Display for WithoutWrites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WithoutWrites({})", self.0)
    }
}

#[async_trait]
impl ObjectStore for WithoutWrites {
    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        Ok(nothing())
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        Ok(Box::new(Discarded))
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.0.get_opts(path, options).await
    }

    async fn get_ranges(&self, path: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.0.get_ranges(path, ranges).await
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        paths
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.list(prefix)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.0.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
struct Discarded;

#[async_trait]
impl MultipartUpload for Discarded {
    fn put_part(&mut self, _: PutPayload) -> UploadPart {
        Box::pin(futures::future::ready(Ok(())))
    }

    async fn complete(&mut self) -> Result<PutResult> {
        Ok(nothing())
    }

    async fn abort(&mut self) -> Result<()> {
        Ok(())
    }
}

fn nothing() -> PutResult {
    PutResult {
        e_tag: None,
        version: None,
        extensions: Extensions::default(),
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;
    use object_store::ObjectStoreExt;
    use object_store::buffered::BufWriter;
    use tokio::io::AsyncWriteExt;

    use super::*;

    #[tokio::test]
    async fn nothing_is_written_or_deleted() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let location = TableLocation::parse("memory://without_writes/t", Vec::new())?;
        let (kept, new, large) = (
            location.below("kept")?,
            location.below("new")?,
            location.below("large")?,
        );
        location.store().put(&kept, "here".into()).await?;

        let dry = location.without_writes();
        dry.store().put(&kept, "other".into()).await?;
        dry.store().put(&new, "new".into()).await?;
        dry.store().delete(&kept).await?;
        let mut upload = BufWriter::with_capacity(Arc::clone(dry.store()), large, 8);
        upload.write_all(&[1; 100]).await?;
        upload.shutdown().await?;

        assert_eq!(dry.store().get(&kept).await?.bytes().await?, "here");
        let mut objects: Vec<_> = location.store().list(kept.parent().as_ref()).collect().await;
        assert_eq!(
            objects.pop().transpose()?.map(|object| object.location),
            Some(kept)
        );
        assert!(objects.is_empty());
        Ok(())
    }
}
